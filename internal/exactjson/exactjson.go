// Package exactjson is encoding/json for what is stored or compared: it refuses a value of which the text
// would say something else, where encoding/json says nothing.
//
// Open this package when JSON loses something on its way into a column and back.
package exactjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"unicode/utf8"
)

// ErrLost means that JSON does not hold a value; the message says which part, and why.
var ErrLost = errors.New("JSON would not keep it")

// replacement is how json.Marshal writes a byte that is not UTF-8; U+FFFD itself it writes as it is.
var replacement = []byte(`\ufffd`)

// Marshal is json.Marshal. [ErrLost]: a text is not UTF-8, or the type of v has fields that encoding/json
// drops: several of one name, or all beside an embedded type that encodes itself.
func Marshal(v any) ([]byte, error) {
	if v != nil {
		if err := typeLoss(reflect.TypeOf(v)); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(data, replacement) { // a raw text within v may have it too
		if err := walk(reflect.ValueOf(v), ""); err != nil {
			return nil, fmt.Errorf("%w of the %T is not UTF-8; a []byte holds any bytes", err, v)
		}
	}
	return data, nil
}

// RoundTrip is Marshal, and decodes into what back points to, as the text's readers will. [ErrLost] is then
// also a number that would come back as another, as one in an interface does where it becomes a float64 that
// it is not. Where back is nil it is not known into what the text will be decoded: as into the type of v.
func RoundTrip(v, back any) ([]byte, error) {
	data, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	as := reflect.TypeOf(v)
	if back != nil {
		as = reflect.TypeOf(back).Elem()
		if err := json.Unmarshal(data, back); err != nil {
			return nil, fmt.Errorf("it cannot be decoded again: %w", err)
		}
	}
	if longNumber(data) {
		err = numbersKept(data, as)
	}
	return data, err
}

// numbersKept decodes and encodes once more: what is encoded then is what a reader has. Only its numbers
// count, in any order, and not where a reader has more of them, or fewer.
func numbersKept(data []byte, as reflect.Type) error {
	v := reflect.New(as)
	if json.Unmarshal(data, v.Interface()) != nil {
		return nil // its reader has another type
	}
	again, err := json.Marshal(v.Elem().Interface())
	if err != nil || bytes.Equal(again, data) {
		return err
	}
	was, err := numbersOf(data)
	if err != nil {
		return err
	}
	is, err := numbersOf(again)
	if err != nil || len(is) != len(was) {
		return err
	}
	for i := range was {
		if was[i] != is[i] {
			return fmt.Errorf("%w: a number comes back as another, %s as %s: one in an interface becomes a float64; give it an int64 or a string", ErrLost, was[i], is[i])
		}
	}
	return nil
}

// numbersOf are the numbers of a text, each written in one way, in the order of that.
func numbersOf(data []byte) (numbers []string, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err == io.EOF { //nolint:errorlint // as Token says
			slices.Sort(numbers)
			return numbers, nil
		}
		if err != nil {
			return nil, err
		}
		if n, isNumber := token.(json.Number); isNumber {
			text := n.String()
			if canonical, err := Number(text); err == nil {
				text = canonical
			}
			numbers = append(numbers, text)
		}
	}
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// EncodesItself says whether values of a type have a JSON of their own.
func EncodesItself(t reflect.Type) bool {
	return implements(t, marshaler) || implements(t, textMarshaler)
}

func implements(t, method reflect.Type) bool {
	return t.Implements(method) || t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(method)
}

// walk looks for a bad text in v and in what is encoded with it. v has been encoded, so it has no cycles.
func walk(v reflect.Value, path string) error {
	if !v.IsValid() {
		return nil
	}
	if end, err := badText(v, path); end || err != nil {
		return err
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return walk(v.Elem(), path)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		for i := range v.Len() {
			if err := walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for key, item := range v.Seq2() {
			at := fmt.Sprintf("%s[%q]", path, key)
			if err := errors.Join(walk(key, at), walk(item, at)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" {
				if err := walk(v.Field(i), path+" "+f.Name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// badText says whether v is a text that is not UTF-8, and whether that is the end of it: what has its own
// JSON is left alone.
func badText(v reflect.Value, path string) (end bool, err error) {
	var text string
	switch {
	case implements(v.Type(), marshaler):
		return true, nil
	case v.Type().Implements(textMarshaler) && v.CanInterface():
		end = true
		if m, ok := v.Interface().(encoding.TextMarshaler); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
			if own, err := m.MarshalText(); err == nil {
				text = string(own)
			}
		}
	case v.Kind() == reflect.String:
		text = v.String()
	}
	if !utf8.ValidString(text) {
		err = fmt.Errorf("%w: the text%s", ErrLost, path)
	}
	return end, err
}

// longNumber says whether a number may have more digits than a float64 holds for certain. What is found in a
// text does no harm.
func longNumber(data []byte) bool {
	const certain = 15
	digits := 0
	for _, c := range data {
		if c >= '0' && c <= '9' {
			digits++
		} else if c != '.' {
			digits = 0
		}
		if digits > certain {
			return true
		}
	}
	return false
}
