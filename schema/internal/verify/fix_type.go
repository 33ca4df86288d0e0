package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var sizes = regexp.MustCompile(`^decimal\((\d+),(\d+)\)`)

// lobs hold ever longer text, or bytes.
var lobs = [][]string{{"tinytext", "text", "mediumtext", "longtext"}, {"tinyblob", "blob", "mediumblob", "longblob"}}

// holds says whether every value of a column of the other's type is the same value in a
// column of c's type: then a change of type loses nothing, in any session.
func (c *foundColumn) holds(other *foundColumn) bool {
	same := func(word string) bool { return strings.Contains(c.full, word) == strings.Contains(other.full, word) }
	if c.charset != other.charset || !same("unsigned") || !same("zerofill") || !same("COMPRESSED") {
		return false
	}
	if c.full == other.full {
		return true
	}
	for _, family := range lobs {
		if i, j := slices.Index(family, other.data), slices.Index(family, c.data); i >= 0 && j >= i {
			return true
		}
	}
	if integerSize(other.data) > 0 {
		return integerSize(c.data) >= integerSize(other.data)
	}
	if c.data != other.data {
		return false
	}
	switch c.data {
	case "varchar", "varbinary":
		return c.length >= other.length
	case "datetime", "time":
		return c.precision >= other.precision
	case "decimal":
		var digits, scale, otherDigits, otherScale int
		return scan(c.full, &digits, &scale) && scan(other.full, &otherDigits, &otherScale) && scale >= otherScale && digits-scale >= otherDigits-otherScale
	}
	return false
}

func scan(full string, digits, scale *int) bool {
	if !sizes.MatchString(full) {
		return false
	}
	_, err := fmt.Sscanf(full, "decimal(%d,%d)", digits, scale)
	return err == nil
}

// wider is the type that the column needs and that holds every value it has, or "".
func (c wantColumn) wider(have *foundColumn) string {
	want := *have
	switch word, _, _ := strings.Cut(strings.ToLower(c.ddl), " "); {
	case c.is == integer:
		want.data = word
		if strings.Contains(have.full, "unsigned") {
			word += " unsigned"
		}
		if strings.Contains(have.full, "zerofill") {
			word += " zerofill"
		}
		want.full = word
	case c.is == variableBytes:
		want.full, want.length = fmt.Sprintf("varbinary(%d)", c.min), c.min
	case c.is == characters && have.charset == "utf8mb4":
		want.full, want.length = fmt.Sprintf("varchar(%d)", c.min), c.min
	case c.is == utcTime:
		want.full, want.precision = "datetime(6)", 6
	default:
		return ""
	}
	if kind, _, _ := strings.Cut(want.full, "("); c.is != integer {
		want.data = kind
	}
	if !want.holds(have) {
		return ""
	}
	return want.full
}

// indexable says whether an index can hold the columns whole: not those of unlimited
// types, nor more than 3072 bytes.
func (t *foundTable) indexable(columns []string) bool {
	const most = 3072
	total := int64(0)
	for _, name := range columns {
		c := t.column(name)
		switch {
		case c == nil || strings.HasSuffix(c.data, "text") || strings.HasSuffix(c.data, "blob") || c.data == "json" || c.data == "geometry":
			return false
		case c.charset == "":
			total += max(c.length, 16)
		case c.charset == "latin1" || c.charset == "ascii" || c.charset == "binary":
			total += c.length
		default:
			total += 4 * c.length
		}
	}
	return total <= most
}
