package repo

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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

var (
	decimalText = regexp.MustCompile(`^-?\d{1,65}(\.\d{1,30})?$`)
	timeText    = regexp.MustCompile(`^\d{4}-[01]\d-[0-3]\d( [0-2]\d:[0-5]\d:[0-5]\d(\.\d{1,6})?)?$`)
	dateText    = regexp.MustCompile(`^\d{4}-[01]\d-[0-3]\d$`)
)

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

// ordered says whether an index has the values in the order in which the server compares them.
func (c listColumn) ordered() bool { return c.kind != enumColumn }

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
	converted, err := any(nil), error(nil)
	if rv.Kind() == reflect.Array && c.kind == keyColumn { // a UUID: its Value method gives text
		converted, err = c.key.Value(rv.Interface())
	} else if converted, err = value(rv.Interface()); err == nil && !isNull(converted) {
		if _, isTime := rv.Interface().(time.Time); isTime && c.kind == dateColumn {
			converted = rv.Interface().(time.Time).UTC().Format(time.DateOnly)
		}
		converted, err = c.fit(converted)
	}
	if isNull(converted) && err == nil {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %q, which is %s: %w", ErrInvalidFilter, c.name, c.declared, err)
	}
	return converted, nil
}

// fit takes what the driver would be given to what the column holds.
func (c listColumn) fit(v any) (any, error) {
	text, isText := v.(string)
	raw, isBytes := v.([]byte)
	if isBytes {
		text = string(raw)
	}
	if truth, isBool := v.(bool); isBool {
		v = int64(0)
		if truth {
			v = int64(1)
		}
	}
	number := !isText && !isBytes
	switch {
	case c.kind == decimalColumn && decimalText.Match(plainText(v)):
		return string(plainText(v)), nil
	case c.kind == timeColumn && timeText.MatchString(text), c.kind == dateColumn && dateText.MatchString(text), c.kind == enumColumn && !number && utf8.ValidString(text):
		return text, nil
	case c.kind == keyColumn && c.key.Class == keytype.Bytes && !number:
		return c.key.Value([]byte(text))
	case c.kind == keyColumn && c.key.Class == keytype.Text && !number:
		return c.key.Value(text)
	case c.kind == keyColumn && c.key.Class == keytype.Integer:
		return c.key.Value(v)
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

// read is the inverse of text: the value as exact takes it.
func (c listColumn) read(text string) (any, error) {
	var err error
	switch {
	case c.kind == decimalColumn && decimalText.MatchString(text), c.kind == timeColumn && timeText.MatchString(text), c.kind == dateColumn && dateText.MatchString(text):
		return text, nil
	case c.kind == keyColumn && c.key.Class == keytype.Integer:
		var n any
		err = c.key.Scan(func(v any) error { n = v; return nil }).(interface{ Scan(any) error }).Scan(text)
		if err == nil {
			n, err = c.key.Value(n)
		}
		return n, err
	case c.kind == keyColumn:
		raw, err := hex.DecodeString(text)
		if err == nil && c.key.Class == keytype.Text {
			if !utf8.Valid(raw) {
				return nil, fmt.Errorf("%q is not UTF-8", raw)
			}
			return string(raw), nil // as it is: a padded one too is what the server compares with
		}
		return raw, err
	}
	return nil, fmt.Errorf("%q is no value of %q, which is %s", text, c.name, c.declared)
}
