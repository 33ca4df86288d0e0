// Package keytype reads the declared type of a column that holds a key, and takes values of Go types to the
// one form in which the column holds them, and back:
//
//	the column is          its values are     Go types that fit
//	an integer             int64, uint64      int, int64, uint64, …
//	char, varchar          string             string; arrays of bytes with a text form, as uuid.UUID
//	binary, varbinary      []byte             arrays of bytes, string
//
// The column decides, not a Value method: that of a UUID gives 36 characters, which BINARY(16) cannot hold.
// It sends nothing.
//
// Open this package when a key column has another type.
package keytype

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Class is what kind of values a key column holds.
type Class int

// The classes.
const (
	Integer Class = iota
	Text
	Bytes
)

// Type is what a key column's type says.
type Type struct {
	Class Class
	// Length is how many characters or bytes fit; of an integer, how many bytes it has.
	Length int
	// Fixed says that values are filled up to Length: with spaces, which are not read, or with zero bytes.
	Fixed bool
	// Unsigned and Auto (AUTO_INCREMENT) are an integer's.
	Unsigned, Auto bool
	// Charset is what a type of text says, utf8mb4 where it says nothing.
	Charset string
}

var (
	integers = map[string]int{"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "integer": 4, "bigint": 8}
	sized    = regexp.MustCompile(`^(char|varchar|binary|varbinary)\s*\(\s*(\d{1,5})\s*\)`)
	charset  = regexp.MustCompile(`\b(?:character set|charset|collate)\s+['"` + "`" + `]?([a-z0-9]+)`)
)

// Parse reads a declared type: "BIGINT UNSIGNED NOT NULL", "CHAR(36) CHARACTER SET ascii". The error says
// what a key's type can be.
func Parse(declared string) (Type, error) {
	text := strings.ToLower(strings.TrimSpace(declared))
	word := text
	if end := strings.IndexAny(text, " ("); end >= 0 {
		word = text[:end]
	}
	t := Type{Auto: strings.Contains(text, "auto_increment"), Unsigned: strings.Contains(text, "unsigned")}
	if size := integers[word]; size > 0 {
		t.Length = size
		return t, nil
	}
	match := sized.FindStringSubmatch(text)
	var err error
	if match != nil {
		t.Length, err = strconv.Atoi(match[2])
	}
	if match == nil || err != nil || t.Auto {
		return Type{}, fmt.Errorf("%q is no type of a key: it is an integer, CHAR(n), VARCHAR(n), BINARY(n) or VARBINARY(n)", declared)
	}
	t.Class, t.Fixed = Bytes, word == "char" || word == "binary"
	if strings.HasSuffix(word, "char") {
		t.Class, t.Charset = Text, "utf8mb4"
		if says := charset.FindStringSubmatch(text); says != nil {
			if t.Charset = says[1]; t.Charset == "utf8" { // as servers call it
				t.Charset = "utf8mb3"
			}
		}
	}
	return t, nil
}

// Plain is the declared type without AUTO_INCREMENT and never NULL: what a column has that refers to it.
func Plain(declared string) string {
	return NotNull(strings.Join(strings.Fields(auto.ReplaceAllString(declared, "")), " "))
}

var auto = regexp.MustCompile(`(?i)\bauto_increment\b`)

// NotNull is the declared type, which says NOT NULL.
func NotNull(declared string) string {
	if declared == "" || strings.Contains(strings.ToUpper(declared), "NOT NULL") {
		return declared
	}
	return declared + " NOT NULL"
}
