package idempotency

import (
	"reflect"

	"github.com/onerow/onerow/internal/exactjson"
)

// emptied is v with nil for each list and map that is empty: to Go they are the same, to JSON they are not.
// In an interface they are two, as in JSON. What encodes itself is left as it is. v has been encoded, so it
// has no cycles; it is not changed.
func emptied(v reflect.Value) (_ reflect.Value, changed bool) {
	if !v.IsValid() || !v.CanInterface() || exactjson.EncodesItself(v.Type()) {
		return v, false
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		if !v.IsNil() && v.Len() == 0 {
			return reflect.Zero(v.Type()), true
		}
	}
	var to reflect.Value // a copy, made when something in it changes
	set := func(old reflect.Value, copied func() reflect.Value, put func(reflect.Value)) {
		if item, differs := emptied(old); differs {
			if !to.IsValid() {
				to = copied()
			}
			put(item)
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		set(v.Elem(), func() reflect.Value { return reflect.New(v.Type().Elem()) }, func(item reflect.Value) { to.Elem().Set(item) })
	case reflect.Interface:
		if k := v.Elem().Kind(); (k == reflect.Slice || k == reflect.Map) && v.Elem().Len() == 0 {
			return v, false
		}
		set(v.Elem(), func() reflect.Value { return reflect.New(v.Type()).Elem() }, func(item reflect.Value) { to.Set(item) })
	case reflect.Struct:
		for i := range v.NumField() {
			set(v.Field(i), func() reflect.Value { return copyOf(v) }, func(item reflect.Value) { to.Field(i).Set(item) })
		}
	case reflect.Array:
		for i := range v.Len() {
			set(v.Index(i), func() reflect.Value { return copyOf(v) }, func(item reflect.Value) { to.Index(i).Set(item) })
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v, false
		}
		for i := range v.Len() {
			set(v.Index(i), func() reflect.Value { return reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v) },
				func(item reflect.Value) { to.Index(i).Set(item) })
		}
	case reflect.Map:
		for key, item := range v.Seq2() {
			set(item, func() reflect.Value {
				all := reflect.MakeMapWithSize(v.Type(), v.Len())
				for k, old := range v.Seq2() {
					all.SetMapIndex(k, old)
				}
				return all
			}, func(item reflect.Value) { to.SetMapIndex(key, item) })
		}
	}
	if !to.IsValid() {
		return v, false
	}
	return to, true
}

func copyOf(v reflect.Value) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	return to
}
