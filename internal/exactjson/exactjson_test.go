package exactjson

import (
	"bytes"
	"encoding"
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

// doc keeps what it is given in a field that only its methods see; box decodes what is in its interface
// exactly.
type (
	doc struct{ m map[string]any }
	box struct{ V any }
)

func (d doc) MarshalJSON() ([]byte, error)     { return json.Marshal(d.m) }
func (d *doc) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &d.m) }

func (b *box) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode((*struct{ V any })(b))
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
		"in a type of its own": {doc{map[string]any{"id": int64(1<<53 + 1)}}, true}, "exact in a type of its own": {doc{map[string]any{"b": 0.25, "a": int64(1 << 53)}}, false},
		"an interface decoded exactly": {box{int64(1<<53 + 1)}, false}, "two of one": {struct {
			A, B int64
			V    any
		}{1<<53 + 1, 1 << 53, int64(1<<53 + 1)}, true}, "another order": {map[string]any{"r": json.RawMessage(`{"b":1000000000000000.50,"a":1e22}`)}, false},
		"no text": {struct {
			A encoding.TextMarshaler `json:",omitempty"`
			B json.RawMessage
		}{nil, json.RawMessage(`"\ufffd"`)}, false},
		"no text, and one": {struct {
			A encoding.TextMarshaler
			B string
		}{nil, "\xff"}, true},
		"digits in a text": {[]any{"12345678901234567"}, false}, "number": {[]any{json.Number("0.10000000000000000")}, false},
	} {
		for _, back := range []any{reflect.New(reflect.TypeOf(c.v)).Interface(), nil} {
			data, err := RoundTrip(c.v, back)
			if errors.Is(err, ErrLost) != c.lost || !c.lost && err != nil && back != nil {
				t.Errorf("%s, into %T: %s, %v", name, back, data, err)
			}
		}
	}
}
