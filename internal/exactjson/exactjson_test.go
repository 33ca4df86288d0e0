package exactjson

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"
)

type (
	a      struct{ X int }
	b      struct{ X int }
	tagged struct {
		Y int `json:"X"`
	}
	deep struct{ b }
	Loop struct {
		*Loop
		Next *Loop
		List []Loop
	}
	stamp struct{ time.Time }
)

// TestTypes: a type is refused exactly when encoding/json drops a field of it that has a name.
func TestTypes(t *testing.T) {
	for _, c := range []struct {
		v    any
		lost bool
	}{
		{struct {
			a
			b
		}{a{1}, b{2}}, true},
		{struct {
			a
			X int
		}{a{1}, 2}, false}, // Go's own rule: the outer one
		{struct {
			a
			tagged
		}{a{1}, tagged{2}}, false}, // the one with a tag
		{struct {
			a
			deep
		}{a{1}, deep{b{2}}}, false}, // the less deep one
		{struct {
			a
			b `json:"-"`
		}{a{1}, b{2}}, false},
		{map[string][]*struct {
			a
			b
		}{}, true},
		{Loop{}, false}, {stamp{}, false}, {time.Time{}, false}, {nil, false}, {(*Loop)(nil), false},
		{struct {
			stamp
			N int
		}{}, true},
		{struct {
			At stamp
			N  int
		}{}, false},
	} {
		for range 2 { // the second answer is remembered
			data, err := Marshal(c.v)
			if errors.Is(err, ErrLost) != c.lost || !c.lost && err != nil {
				t.Errorf("%T: %s, %v", c.v, data, err)
			}
		}
	}
}

// TestTextsAndNumbers: what comes back is what was given, or is refused.
func TestTextsAndNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		v    any
		lost bool
	}{
		"replacement": {"\uFFFD", false}, "invalid": {"\xff", true}, "key": {map[string]int{"\xff": 1}, true}, "bytes": {[]byte("\xff"), false},
		"raw":  {map[string]any{"a": json.RawMessage(`"\ufffd"`)}, false},
		"deep": {[]any{map[string]any{"a": struct{ B *string }{new("\xff")}}}, true},
		"left out": {struct {
			a, B string `json:"-"`
		}{"\xff", "\xff"}, false},
		"int": {int64(1<<62 + 1), false}, "in an interface": {[]any{int64(1<<62 + 1)}, true}, "exact": {[]any{int64(1 << 53), 0.1, 1e300}, false},
		"digits in a text": {[]any{"12345678901234567"}, false}, "number": {[]any{json.Number("0.10000000000000000")}, false},
	} {
		data, err := RoundTrip(c.v, reflect.New(reflect.TypeOf(c.v)).Interface())
		if errors.Is(err, ErrLost) != c.lost || !c.lost && err != nil {
			t.Errorf("%s: %s, %v", name, data, err)
		}
	}
}
