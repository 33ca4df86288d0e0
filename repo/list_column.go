package repo

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
)

// listColumn is a column by which a list is filtered or ordered.
type listColumn struct {
	name     string
	declared string // its type
	kind     columnKind
	key      keytype.Type // of integers, text and bytes
	null     bool         // it may be NULL
}

type columnKind int

const (
	keyColumn columnKind = iota // what a key can be too
	decimalColumn
	dateColumn
	timeColumn
	enumColumn
)

// forms are the values of kinds that travel as text.
var forms = map[columnKind]*regexp.Regexp{
	decimalColumn: regexp.MustCompile(`^-?\d{1,65}(\.\d{1,30})?$`),
	timeColumn:    regexp.MustCompile(`^\d{4}-[01]\d-[0-3]\d( [0-2]\d:[0-5]\d:[0-5]\d(\.\d{1,6})?)?$`),
	dateColumn:    regexp.MustCompile(`^\d{4}-[01]\d-[0-3]\d$`),
}

func (c listColumn) hasForm(text string) bool {
	return forms[c.kind] != nil && forms[c.kind].MatchString(text)
}

// listColumn reads the column's declared type. One that the server compares otherwise than it is ordered, or
// by a setting of the session, is none: FLOAT, TIMESTAMP, JSON.
func (r *untyped) listColumn(name string) (listColumn, error) {
	c := listColumn{name: name, declared: r.res.ColumnType(name)}
	c.null = !strings.Contains(strings.ToUpper(c.declared), "NOT NULL")
	switch typeWord(c.declared) {
	case "":
		return c, fmt.Errorf("%w: %q has no column %q", ErrUnsupported, r.res.Name, name)
	case "bool", "boolean":
		c.key = keytype.Type{Class: keytype.Integer, Length: 1}
	case "decimal", "dec", "numeric", "fixed":
		c.kind = decimalColumn
	case "date":
		c.kind = dateColumn
	case "datetime":
		c.kind = timeColumn
	case "enum":
		c.kind = enumColumn
	default:
		var err error
		if c.key, err = keytype.Parse(c.declared); err != nil {
			return c, fmt.Errorf("%w: no list of %q is by %q, for it is %s; it can be by an integer, DECIMAL, DATE, DATETIME, CHAR, VARCHAR, BINARY and VARBINARY",
				ErrUnsupported, r.res.Name, name, c.declared)
		}
	}
	return c, nil
}

// value is a Go value as operand takes it, nil for NULL. The server would compare a value of another
// type than the column's as floating-point numbers, without the index, and find what is not the same.
func (c listColumn) value(v any) (any, error) {
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer && !rv.IsNil() {
		rv = rv.Elem()
	}
	if !rv.IsValid() {
		return nil, nil
	}
	converted, err := c.convert(rv)
	switch {
	case err != nil:
		return nil, errtext.Errorf("%w: %q, which is %s: %w", ErrInvalidFilter, c.name, c.declared, err)
	case isNull(converted):
		return nil, nil
	}
	return converted, nil
}

// convert does so for what is not nil.
func (c listColumn) convert(rv reflect.Value) (any, error) {
	if rv.Kind() == reflect.Array && c.kind == keyColumn { // a UUID: its Value method gives text
		return c.key.Value(rv.Interface())
	}
	if at, isTime := rv.Interface().(time.Time); isTime && c.kind == dateColumn {
		return at.UTC().Format(time.DateOnly), nil
	}
	v, err := value(rv.Interface())
	if err != nil || isNull(v) {
		return nil, err
	}
	text, isText := v.(string)
	if raw, isBytes := v.([]byte); isBytes {
		text, isText = string(raw), true
	}
	switch {
	case c.kind == decimalColumn && c.hasForm(string(plainText(v))):
		return string(plainText(v)), nil
	case c.kind == keyColumn && c.key.Class == keytype.Integer:
		if truth, isBool := v.(bool); isBool {
			v = map[bool]int64{true: 1}[truth]
		}
		return c.key.Value(v)
	case c.kind == keyColumn && isText:
		return c.key.Value(text)
	case isText && (c.hasForm(text) || c.kind == enumColumn && utf8.ValidString(text)):
		return text, nil
	}
	return nil, fmt.Errorf("%#v is none", v)
}

// operand is a value that a caller gave as what the column is compared with, and its parameter. A DECIMAL has
// its own number of digits, for the server would take a text for a floating-point number.
func (c listColumn) operand(value any) (string, []any) {
	if c.kind != decimalColumn {
		return "?", []any{value}
	}
	text, _ := value.(string)
	_, fraction, _ := strings.Cut(text, ".")
	return "CAST(? AS DECIMAL(65," + strconv.Itoa(len(fraction)) + "))", []any{value}
}

// exact is operand for a value that the column has. Text does not pass through the session's character set.
func (c listColumn) exact(value any) (string, []any) {
	if text, isText := value.(string); isText && c.kind == keyColumn {
		return keytype.Literal(text), nil
	}
	return c.operand(value)
}

// text is the expression for the column's value as text in ASCII, whatever the session's character set.
func (c listColumn) text() string {
	column := ident.Quote(c.name)
	switch {
	case c.kind != keyColumn || c.key.Class == keytype.Integer:
		return "CAST(" + column + " AS CHAR)"
	case c.key.Class == keytype.Text:
		return "HEX(CONVERT(" + column + " USING utf8mb4))"
	}
	return "HEX(" + column + ")"
}

// read is the inverse of text: the value as exact takes it. A padded text stays as it is, for so the server
// compares it.
func (c listColumn) read(text string) (n any, err error) {
	switch {
	case c.hasForm(text):
		return text, nil
	case c.kind == keyColumn && c.key.Class == keytype.Integer:
		if err := (keyField{typ: c.key}).into(&n).(sql.Scanner).Scan(text); err != nil {
			return nil, err
		}
		return c.key.Value(n)
	case c.kind == keyColumn:
		raw, err := hex.DecodeString(text)
		if err != nil || c.key.Class != keytype.Text {
			return raw, err
		}
		if !utf8.Valid(raw) {
			return nil, fmt.Errorf("%q is not UTF-8", raw)
		}
		return string(raw), nil
	}
	return nil, fmt.Errorf("%q is no value of %q, which is %s", text, c.name, c.declared)
}
