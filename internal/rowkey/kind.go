package rowkey

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// kind is how a column's values are read and written.
type kind int

const (
	integer kind = iota
	year
	decimal
	text
	label  // enum and set, by their labels
	number // enum and set, by their numbers: their order in an index
	binary
	date
	datetime
	clock // time
	uuid
	inet
	converted // anything, read as text
)

// kinds are the types that can be a key's.
var kinds = map[string]kind{
	"tinyint": integer, "smallint": integer, "mediumint": integer, "int": integer, "integer": integer, "bigint": integer,
	"year": year, "decimal": decimal, "numeric": decimal,
	"char": text, "varchar": text, "enum": label, "set": label,
	"binary": binary, "varbinary": binary,
	"date": date, "datetime": datetime, "time": clock,
	"uuid": uuid, "inet4": inet, "inet6": inet,
}

// family returns the kind as whose values its literals compare.
func (k kind) family() kind {
	switch k {
	case decimal, year:
		return integer
	case label, converted:
		return text
	case datetime:
		return date
	}
	return k
}

// examples are what a part looks like when it is typed; that of others is text.
var examples = map[kind]string{
	integer: "an integer", number: "an integer", year: "a year", decimal: "a number like 12.50", label: "one of its labels", binary: "bytes like 0x00ff",
	date: "a date like 1993-09-21", datetime: "a time like 1993-09-21 10:00:00", clock: "a time like 10:00:00",
}

func (k kind) example() string { return cmp.Or(examples[k], "text") }

// quoted are the forms of what is written between quotes.
var quoted = map[kind]*regexp.Regexp{
	date:     regexp.MustCompile(`^\d{4}-\d\d-\d\d$`),
	datetime: regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?$`),
	clock:    regexp.MustCompile(`^-?\d{2,3}:\d\d:\d\d(\.\d{1,6})?$`),
	uuid:     regexp.MustCompile(`^[0-9A-Fa-f-]{32,36}$`),
	inet:     regexp.MustCompile(`^[0-9A-Fa-f:.]{2,45}$`),
}

var decimalDigits = regexp.MustCompile(`^-?\d{1,65}(\.\d{1,38})?$`)

// read is the expression that reads the column.
func (p part) read(column string) string {
	switch p.kind {
	case integer, year:
		return column
	case number:
		return column + " + 0"
	case converted:
		return "HEX(CONVERT(CAST(" + column + " AS CHAR) USING utf8mb4))"
	case text, label:
		if p.utf8 && p.kind == text {
			return "HEX(" + column + ")"
		}
		return "HEX(CONVERT(" + column + " USING utf8mb4))"
	case binary:
		return "HEX(" + column + ")"
	}
	return "CAST(" + column + " AS CHAR)"
}

// literal writes what read has read.
func (p part) literal(read string) string {
	switch p.kind {
	case integer, year, decimal, number:
		return plain(read)
	case text, label, converted:
		return "_utf8mb4 x'" + strings.ToLower(read) + "'"
	case binary:
		return "x'" + strings.ToLower(read) + "'"
	}
	return "'" + read + "'"
}

// plain is a number without the zeros that ZEROFILL puts before it.
func plain(digits string) string {
	if !strings.HasPrefix(digits, "0") {
		return digits
	}
	digits = strings.TrimLeft(digits, "0")
	if digits == "" || digits[0] == '.' {
		return "0" + digits
	}
	return digits
}

// value is the literal as a part of an encoded key.
func (p part) value(literal string) (any, error) {
	switch p.kind {
	case integer, year:
		n, err := integerOf(literal)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInvalidKey, err)
		}
		return n, nil
	case decimal:
		return literal, nil
	case text, label, converted:
		raw, err := unhex(literal)
		return string(raw), err
	case binary:
		return unhex(literal)
	case number:
		return nil, fmt.Errorf("%w: %q is the number of a label", ErrInvalidKey, literal)
	}
	return strings.Trim(literal, "'"), nil
}

// integerOf reads an integer: an int64, or a uint64 where it is greater than those.
func integerOf(digits string) (any, error) {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no integer", digits)
	}
	return n, nil
}

// from writes a part of an encoded key as a literal.
func (p part) from(value any) (string, error) {
	switch v := value.(type) {
	case int64:
		if p.kind == integer || p.kind == year || p.kind == decimal {
			if v < 0 && p.unsigned {
				return "", fmt.Errorf("%q is unsigned", p.name)
			}
			return strconv.FormatInt(v, 10), nil
		}
	case uint64:
		if p.kind == integer && !p.unsigned {
			return "", fmt.Errorf("%q is signed, %d is too great", p.name, v)
		}
		if p.kind == integer || p.kind == decimal {
			return strconv.FormatUint(v, 10), nil
		}
	case []byte:
		if p.kind == binary {
			return "x'" + hex.EncodeToString(v) + "'", nil
		}
	case string:
		return p.fromText(v)
	}
	return "", fmt.Errorf("%q is not %s", p.name, p.kind.example())
}

func (p part) fromText(v string) (string, error) {
	switch {
	case p.kind == text || p.kind == label || p.kind == converted:
		if !utf8.ValidString(v) {
			return "", fmt.Errorf("%q is not UTF-8", p.name)
		}
		return "_utf8mb4 x'" + hex.EncodeToString([]byte(v)) + "'", nil
	case p.kind == decimal && decimalDigits.MatchString(v):
		return plain(v), nil
	case quoted[p.kind] != nil && quoted[p.kind].MatchString(v):
		return "'" + v + "'", nil
	}
	return "", fmt.Errorf("%q is not %s", p.name, p.kind.example())
}

// parse is typed text as a part of an encoded key.
func (p part) parse(typed string, several bool) (any, error) {
	switch p.kind {
	case integer, year:
		return integerOf(strings.TrimSpace(typed))
	case binary:
		raw, ok := Bytes(strings.TrimSpace(typed))
		if !ok {
			return nil, fmt.Errorf("%q is no bytes in hexadecimal", typed)
		}
		return raw, nil
	case text, label:
		if several && strings.HasPrefix(typed, "'") {
			return unescape.Replace(typed[1:]), nil
		}
		return typed, nil
	}
	return strings.Trim(strings.TrimSpace(typed), "'"), nil
}

// Bytes are bytes as somebody types them: 0x00ff, or a UUID with its dashes.
func Bytes(typed string) ([]byte, bool) {
	digits, ok := strings.CutPrefix(typed, "0x")
	if dashed.MatchString(typed) {
		digits, ok = strings.ReplaceAll(typed, "-", ""), true
	}
	raw, err := hex.DecodeString(digits)
	return raw, ok && err == nil
}

var dashed = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// unfit says why no row has the literal in the column; empty: one may.
func (p part) unfit(literal string) string {
	if p.length == 0 {
		return ""
	}
	raw, err := unhex(literal)
	n, unit := len(raw), "byte"
	if p.kind == text {
		n, unit = utf8.RuneCount(raw), "character"
	}
	if err != nil || n <= p.length && (n == p.length || !p.fixed) {
		return ""
	}
	return fmt.Sprintf("its length is %d, %q has %d %ss", n, p.name, p.length, unit)
}

// unescape undoes what onerow.EncodeKey does to text.
var unescape = strings.NewReplacer("%25", "%", "%2C", ",", "%27", "'")
