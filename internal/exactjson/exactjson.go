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
	"reflect"
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
		if path, found := badText(reflect.ValueOf(v), ""); found {
			return nil, fmt.Errorf("%w: the text%s of the %T is not UTF-8; a []byte holds any bytes", ErrLost, path, v)
		}
	}
	return data, nil
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

// badText finds a text that is not UTF-8. v has been encoded, so it has no cycles.
func badText(v reflect.Value, path string) (string, bool) {
	if !v.IsValid() || implements(v.Type(), marshaler) { // its JSON is its own
		return "", false
	}
	if v.Type().Implements(textMarshaler) && v.CanInterface() {
		if v.Kind() == reflect.Pointer && v.IsNil() {
			return "", false
		}
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		return path, err == nil && !utf8.Valid(text)
	}
	switch v.Kind() {
	case reflect.String:
		return path, !utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return badText(v.Elem(), path)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return "", false
		}
		for i := range v.Len() {
			if at, found := badText(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); found {
				return at, true
			}
		}
	case reflect.Map:
		for key, item := range v.Seq2() {
			at := fmt.Sprintf("%s[%q]", path, key)
			if _, found := badText(key, at); found {
				return at, true
			}
			if at, found := badText(item, at); found {
				return at, true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" {
				if at, found := badText(v.Field(i), path+" "+f.Name); found {
					return at, true
				}
			}
		}
	}
	return "", false
}
