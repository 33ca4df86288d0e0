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

// value is what a statement is given for the value of a field: what the driver makes of it, so nil, int64,
// float64, bool, string, []byte, uint64 above the largest int64, or json.RawMessage, but times as text in
// UTC. Unlike [driver.DefaultParameterConverter] it takes all that the driver takes.
func value(v any) (any, error) {
	switch t := v.(type) {
	case nil, []byte:
		return v, nil
	case time.Time:
		return t.UTC().Format(datetime), nil
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
	case rv.Type().PkgPath() == "database/sql" && strings.HasPrefix(rv.Type().Name(), "Null["): // its Value refuses a great uint64
		if !rv.FieldByName("Valid").Bool() {
			return nil, nil
		}
		return value(rv.FieldByName("V").Interface())
	case isValuer:
		v, err := valuer.Value()
		if err != nil {
			return nil, err
		}
		if _, again := v.(driver.Valuer); again {
			return nil, fmt.Errorf("the Value method of %T returns a %T, which is no value of a statement", valuer, v)
		}
		return value(v)
	case kind == reflect.Bool:
		return rv.Bool(), nil
	case rv.CanInt():
		return rv.Int(), nil
	case rv.CanUint() && rv.Uint() > math.MaxInt64:
		return rv.Uint(), nil
	case rv.CanUint():
		return int64(rv.Uint()), nil //nolint:gosec // it fits
	case rv.CanFloat():
		return rv.Float(), nil
	case kind == reflect.String:
		return rv.String(), nil
	case kind == reflect.Slice && rv.Type().Elem().Kind() == reflect.Uint8:
		return rv.Bytes(), nil
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

// datetime is the text of a DATETIME(6).
const datetime = "2006-01-02 15:04:05.000000"

// timeTarget scans microseconds since 1970 into a field, see isTime.
type timeTarget struct{ field reflect.Value }

func (t *timeTarget) Scan(src any) error {
	var micros int64
	switch v := src.(type) {
	case nil:
		t.field.SetZero()
		return nil
	case int64:
		micros = v
	case []byte:
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil {
			return err
		}
		micros = n
	default:
		return fmt.Errorf("repo: microseconds came as %T", src)
	}
	at := time.UnixMicro(micros).UTC()
	switch to := t.field.Addr().Interface().(type) {
	case *time.Time:
		*to = at
	case **time.Time:
		p := at // which alone leaves the stack
		*to = &p
	case *sql.NullTime:
		*to = sql.NullTime{Time: at, Valid: true}
	case *sql.Null[time.Time]:
		*to = sql.Null[time.Time]{V: at, Valid: true}
	}
	return nil
}
