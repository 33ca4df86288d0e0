package keytype

import (
	"bytes"
	"cmp"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/onerow/onerow/internal/key"
)

// Fits says whether values of a Go type can be a key in the column.
func (t Type) Fits(typ reflect.Type) error {
	isBytes := typ.Kind() == reflect.Array && typ.Elem().Kind() == reflect.Uint8
	switch {
	case typ.Kind() == reflect.Interface:
		return nil
	case t.Class == Integer:
		if reflect.Zero(typ).CanInt() || reflect.Zero(typ).CanUint() {
			return nil
		}
		return fmt.Errorf("a %s does not fit an integer column", typ)
	case typ.Kind() == reflect.String:
		return nil
	case t.Class == Text && isBytes:
		if typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()) && reflect.PointerTo(typ).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
			return nil
		}
		return fmt.Errorf("a %s has no MarshalText and UnmarshalText, which a column of text needs", typ)
	case t.Class == Bytes && isBytes && typ.Len() > t.Length || isBytes && t.Fixed && typ.Len() != t.Length:
		return fmt.Errorf("a %s has %d bytes, the column %d", typ, typ.Len(), t.Length)
	case isBytes:
		return nil
	}
	return fmt.Errorf("a %s does not fit a column of text or bytes", typ)
}

// Value is a Go value as the column holds it: int64, uint64 above the largest int64, string or []byte. What
// no row of the column can have is [key.ErrInvalid]: so no server cuts it, or compares it without the
// index because its characters are not the column's.
func (t Type) Value(v any) (any, error) {
	if n, isInt := v.(int64); isInt && t.Class == Integer {
		return t.integer(n)
	}
	rv := reflect.ValueOf(v)
	switch {
	case !rv.IsValid():
		return nil, fmt.Errorf("%w: it is nil", key.ErrInvalid)
	case t.Class == Integer && rv.CanInt():
		return t.integer(rv.Int())
	case t.Class == Integer && rv.CanUint():
		n := rv.Uint()
		switch {
		case n <= math.MaxInt64:
			return t.integer(int64(n)) //nolint:gosec // it fits
		case !t.Unsigned || t.Length < 8:
			return nil, fmt.Errorf("%w: %d is more than the column holds", key.ErrInvalid, n)
		}
		return n, nil
	case t.Class == Text && rv.Kind() == reflect.String:
		return t.text(rv.String())
	case t.Class == Text:
		if m, ok := v.(encoding.TextMarshaler); ok {
			text, err := m.MarshalText()
			if err != nil {
				return nil, fmt.Errorf("%w: %w", key.ErrInvalid, err)
			}
			return t.text(string(text))
		}
	case t.Class == Bytes:
		if raw, ok := rawBytes(rv); ok {
			return t.raw(raw)
		}
	}
	return nil, fmt.Errorf("%w: a %T is not what the column holds", key.ErrInvalid, v)
}

func (t Type) integer(n int64) (any, error) {
	bits := 8*t.Length - 1
	switch {
	case n < 0 && t.Unsigned:
		return nil, fmt.Errorf("%w: %d is negative, the column is UNSIGNED", key.ErrInvalid, n)
	case t.Unsigned:
		bits++
	}
	if bits < 63 && (n >= 1<<bits || n < -1<<bits) {
		return nil, fmt.Errorf("%w: %d is more than the column holds", key.ErrInvalid, n)
	}
	return n, nil
}

func (t Type) text(s string) (any, error) {
	if t.Fixed {
		s = strings.TrimRight(s, " ")
	}
	ascii := strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	switch {
	case !utf8.ValidString(s):
		return nil, fmt.Errorf("%w: it is not UTF-8", key.ErrInvalid)
	case !ascii && t.Charset != "utf8mb4":
		return nil, fmt.Errorf("%w: the column is %s, so only ASCII is a key here", key.ErrInvalid, t.Charset)
	case utf8.RuneCountInString(s) > t.Length:
		return nil, fmt.Errorf("%w: it has %d characters, the column %d", key.ErrInvalid, utf8.RuneCountInString(s), t.Length)
	}
	return s, nil
}

func (t Type) raw(b []byte) (any, error) {
	if len(b) > t.Length || t.Fixed && len(b) != t.Length {
		return nil, fmt.Errorf("%w: it has %d bytes, the column %d", key.ErrInvalid, len(b), t.Length)
	}
	return b, nil
}

// rawBytes is a copy of the bytes of an array, a slice or a string.
func rawBytes(v reflect.Value) ([]byte, bool) {
	switch {
	case v.Kind() == reflect.String:
		return []byte(v.String()), true
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return bytes.Clone(v.Bytes()), true
	case v.Kind() == reflect.Array && v.Type().Elem().Kind() == reflect.Uint8:
		raw := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(raw), v)
		return raw, true
	}
	return nil, false
}

// Literal is a value of the column's as SQL, whatever it holds and whatever the session's settings.
func Literal(value any) string {
	switch v := value.(type) {
	case string:
		return fmt.Sprintf("_utf8mb4 X'%X'", v)
	case []byte:
		return fmt.Sprintf("X'%X'", v)
	}
	return fmt.Sprint(value)
}

// Show is a value for people.
func Show(value any) string {
	switch v := value.(type) {
	case string:
		return strconv.Quote(v)
	case []byte:
		return fmt.Sprintf("0x%x", v)
	}
	return fmt.Sprint(value)
}

// Compare orders values of one column, integers by their size.
func Compare(a, b any) int {
	switch a := a.(type) {
	case int64:
		return compare(a, b, -1) // a uint64 is above the largest int64
	case uint64:
		return compare(a, b, 1)
	case string:
		return compare(a, b, 0)
	case []byte:
		if b, ok := b.([]byte); ok {
			return bytes.Compare(a, b)
		}
	}
	return 0
}

// compare orders two values of one type; of another type b is what the caller says.
func compare[T cmp.Ordered](a T, b any, other int) int {
	if b, ok := b.(T); ok {
		return cmp.Compare(a, b)
	}
	return other
}
