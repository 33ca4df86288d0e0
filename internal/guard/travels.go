package guard

import (
	"database/sql/driver"
	"reflect"

	"github.com/onerow/onerow/internal/sqltext"
	"github.com/onerow/onerow/internal/wire"
)

// largest is what a statement of a batch may have in its arguments: an error about a packet that is too large
// belongs to one statement.
const largest = 4 << 10

// travels says whether the statements of a batch may travel together, with its query after them.
func (c *session) travels(b *wire.Batch, args int) bool {
	size := 0
	for _, s := range b.Stmts {
		if !c.single(s.Query, len(s.Args)) {
			return false
		}
		args -= len(s.Args)
		for _, arg := range s.Args {
			size += sizeOf(arg)
		}
	}
	return size <= largest && (b.Query == "" || c.single(b.Query, args))
}

// single says whether a text is proved to be one statement, with as many placeholders as arguments, after
// which another may stand: in whatever sql_mode the session is.
func (c *session) single(query string, args int) bool {
	s := sqltext.Classify(query, c.charset)
	return s.Travels && s.Placeholders == args
}

// sizeOf is the number of bytes of an argument that may have many.
func sizeOf(arg any) int {
	if valuer, ok := arg.(driver.Valuer); ok {
		arg, _ = driver.DefaultParameterConverter.ConvertValue(valuer) //nolint:errcheck // the driver says so
	}
	v := reflect.ValueOf(arg)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice || v.Kind() == reflect.String {
		return v.Len()
	}
	return 0
}
