package repo

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// value is what a statement is given for the value of a field: what the driver makes of
// it, so nil, int64, float64, bool, string, []byte, uint64 above the largest int64, or
// json.RawMessage, but times as text in UTC. Unlike [driver.DefaultParameterConverter]
// it takes all that the driver takes.
func value(v any) (any, error) {
	switch t := v.(type) {
	case nil, []byte:
		return v, nil
	case time.Time:
		return formatTime(t), nil
	case json.RawMessage:
		if t == nil {
			return []byte(nil), nil
		}
		return t, nil
	}
	rv := reflect.ValueOf(v)
	valuer, isValuer := v.(driver.Valuer)
	switch kind := rv.Kind(); {
	case kind == reflect.Pointer && (!isValuer || rv.Type().Elem().Implements(reflect.TypeFor[driver.Valuer]())):
		if rv.IsNil() {
			return nil, nil
		}
		return value(rv.Elem().Interface())
	case isNullOf(rv.Type()):
		if !rv.FieldByName("Valid").Bool() {
			return nil, nil
		}
		return value(rv.FieldByName("V").Interface())
	case isValuer:
		return valueOf(valuer)
	}
	return plainValue(rv)
}

// isNullOf: the Value method of sql.Null[uint64] refuses what is above the largest int64.
func isNullOf(t reflect.Type) bool {
	return t.PkgPath() == reflect.TypeFor[sql.Null[int]]().PkgPath() && strings.HasPrefix(t.Name(), "Null[")
}

func valueOf(valuer driver.Valuer) (any, error) {
	v, err := valuer.Value()
	if err != nil {
		return nil, err
	}
	if _, again := v.(driver.Valuer); again {
		return nil, fmt.Errorf("the Value method of %T returns a %T, which is no value of a statement", valuer, v)
	}
	return value(v)
}

func plainValue(rv reflect.Value) (any, error) {
	switch rv.Kind() {
	case reflect.Bool:
		return rv.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return rv.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := rv.Uint(); n > math.MaxInt64 {
			return n, nil
		}
		return int64(rv.Uint()), nil //nolint:gosec // it fits
	case reflect.Float32, reflect.Float64:
		return rv.Float(), nil
	case reflect.String:
		return rv.String(), nil
	case reflect.Slice:
		if rv.Type().Elem().Kind() == reflect.Uint8 {
			return rv.Bytes(), nil
		}
	}
	return nil, fmt.Errorf("a %s is no value of a statement; give it a Value method (driver.Valuer)", rv.Type())
}

// isNull says whether the driver is given NULL.
func isNull(v any) bool {
	raw, isBytes := v.([]byte)
	return v == nil || isBytes && raw == nil
}

// plainText is the text of a value of a statement, the same for all Go types of which a
// column makes the same: 5 for int8, uint64 and 5.0, 1 for true.
func plainText(v any) []byte {
	switch t := v.(type) {
	case []byte:
		return t
	case json.RawMessage:
		return t
	case string:
		return []byte(t)
	case bool:
		if t {
			return []byte("1")
		}
		return []byte("0")
	case float64:
		return strconv.AppendFloat(nil, t, 'f', -1, 64)
	}
	return fmt.Append(nil, v) // an integer
}

// typeWord is the first word of a declared type, in lower case: "varchar".
func typeWord(columnType string) string {
	word := strings.ToLower(strings.TrimSpace(columnType))
	if end := strings.IndexFunc(word, func(c rune) bool { return c < 'a' || c > 'z' }); end >= 0 {
		word = word[:end]
	}
	return word
}

// isText says whether a declared type has a character set.
func isText(columnType string) bool {
	word := typeWord(columnType)
	return strings.HasSuffix(word, "char") || strings.HasSuffix(word, "text") || word == "enum" || word == "set" || word == "national"
}

// formatTime writes a time as the text of a DATETIME(6) in UTC.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000") }
