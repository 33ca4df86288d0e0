package idempotency

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"reflect"

	"github.com/onerow/onerow/internal/exactjson"
)

// hashOf is the fingerprint of a payload, in which an empty list or map is as one that is nil, and the one in
// which it was another: the same where there is none.
func hashOf(v any) (sum, earlier [sha256.Size]byte, err error) {
	data, err := jsonOf(v)
	if err != nil {
		return sum, earlier, err
	}
	earlier, err = hashJSON(data)
	switch v.(type) {
	case nil, json.RawMessage, []byte:
		return earlier, earlier, err
	}
	if err != nil || !mayHaveEmpty(data) {
		return earlier, earlier, err
	}
	without, err := jsonOf(emptied(reflect.ValueOf(v)).Interface())
	if err != nil || bytes.Equal(without, data) {
		return earlier, earlier, err
	}
	sum, err = hashJSON(without)
	return sum, earlier, err
}

func hashJSON(data []byte) ([sha256.Size]byte, error) {
	tree, err := treeOf(data)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	h := sha256.New()
	err = writeTree(h, tree)
	return [sha256.Size]byte(h.Sum(nil)), err
}

// mayHaveEmpty says whether JSON may be that of an empty list, map or []byte.
func mayHaveEmpty(data []byte) bool {
	return bytes.Contains(data, []byte("[]")) || bytes.Contains(data, []byte("{}")) || bytes.Contains(data, []byte(`""`))
}

// emptied is v with nil for each list and map that is empty: to Go they are the same, to JSON they are not.
// In an interface they are two, as in JSON. What encodes itself is left as it is. v has been encoded, so what
// JSON has of it has no cycles; it is not changed, what is in it is copied. What JSON leaves out is not
// followed.
func emptied(v reflect.Value) reflect.Value {
	if !v.IsValid() || !v.CanInterface() || exactjson.EncodesItself(v.Type()) {
		return v
	}
	to := reflect.New(v.Type()).Elem() // nil, where a value of the type can be
	switch v.Kind() {
	case reflect.Slice:
		if v.Len() == 0 {
			break
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v
		}
		to.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			to.Index(i).Set(emptied(v.Index(i)))
		}
	case reflect.Map:
		if v.Len() > 0 {
			to.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		}
		for key, item := range v.Seq2() {
			to.SetMapIndex(key, emptied(item))
		}
	case reflect.Struct:
		to.Set(v)
		for i := range v.NumField() {
			if to.Field(i).CanSet() && v.Type().Field(i).Tag.Get("json") != "-" {
				to.Field(i).Set(emptied(v.Field(i)))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			to.Set(reflect.New(v.Type().Elem()))
			to.Elem().Set(emptied(v.Elem()))
		}
	case reflect.Interface:
		inner := v.Elem()
		if k := inner.Kind(); !inner.IsValid() || (k == reflect.Slice || k == reflect.Map) && inner.Len() == 0 {
			return v
		}
		to.Set(emptied(inner))
	default:
		return v
	}
	return to
}
