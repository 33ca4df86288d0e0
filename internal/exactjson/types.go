package exactjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// losses are the answers of typeLoss: nil or an error by type.
var losses sync.Map

// typeLoss says what encoding/json drops of each value of a type.
func typeLoss(t reflect.Type) error {
	if known, found := losses.Load(t); found {
		err, _ := known.(error)
		return err
	}
	err := lossOf(t, map[reflect.Type]bool{})
	losses.Store(t, err)
	return err
}

func lossOf(t reflect.Type, seen map[reflect.Type]bool) error {
	if seen[t] {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		if EncodesItself(t) {
			return nil
		}
		return lossOf(t.Elem(), seen)
	case reflect.Struct:
	default:
		return nil
	}
	if EncodesItself(t) {
		if e := embeddedOf(t); e != nil {
			return fmt.Errorf("%w: the JSON of a %s is that of the %s embedded in it, without its other fields; give that field a name", ErrLost, t, e)
		}
		return nil
	}
	ranks := map[string][]int{}
	fields := fieldsOf(t, nil, ranks)
	for name, r := range ranks {
		if slices.Sort(r); len(r) > 1 && r[0] == r[1] {
			return fmt.Errorf("%w: a %s has several fields that are %q in JSON, and encoding/json writes none of them", ErrLost, t, name)
		}
	}
	for _, f := range fields {
		if err := lossOf(f, seen); err != nil {
			return err
		}
	}
	return nil
}

// fieldsOf are the types of a struct's fields. It adds the rank of each to those of its name in JSON:
// encoding/json writes the least deep, then the one with a tag, and none where two are first.
func fieldsOf(t reflect.Type, around []reflect.Type, ranks map[string][]int) (types []reflect.Type) {
	if slices.Contains(around, t) {
		return nil
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer && inner.Name() == "" {
			inner = inner.Elem()
		}
		embedded := f.Anonymous && inner.Kind() == reflect.Struct
		rank := 2 * len(around)
		switch {
		case f.Tag.Get("json") == "-", !f.IsExported() && !embedded:
			continue
		case embedded && name == "":
			types = append(types, fieldsOf(inner, append(around, t), ranks)...)
			continue
		case name == "":
			name, rank = f.Name, rank+1
		}
		ranks[name] = append(ranks[name], rank)
		types = append(types, f.Type)
	}
	return types
}

// embeddedOf is the embedded type whose JSON is all of a struct's that has other fields, or nil: its method
// is promoted.
func embeddedOf(t reflect.Type) (embedded reflect.Type) {
	defer func() {
		if recover() != nil { // a method that does not take the zero value
			embedded = nil
		}
	}()
	others := 0
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct && EncodesItself(f.Type):
			whole, err := json.Marshal(reflect.New(t).Interface())
			part, err2 := json.Marshal(reflect.New(f.Type).Interface())
			if err == nil && err2 == nil && bytes.Equal(whole, part) {
				embedded = f.Type
				continue
			}
			others++
		case f.IsExported() && f.Tag.Get("json") != "-":
			others++
		}
	}
	if others == 0 {
		return nil
	}
	return embedded
}
