package exactjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
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
	fields, twice := fieldsOf(t)
	if twice != "" {
		return fmt.Errorf("%w: a %s has several fields that are %q in JSON, and encoding/json writes none of them", ErrLost, t, twice)
	}
	for _, f := range fields {
		if err := lossOf(f, seen); err != nil {
			return err
		}
	}
	return nil
}

// fieldsOf are the types of a struct's fields, and a name that several of them have where neither Go's rules
// nor the tags prefer one, as encoding/json decides: the least deep, then the one with a tag.
func fieldsOf(t reflect.Type) (types []reflect.Type, twice string) {
	decided, seen := map[string]bool{}, map[reflect.Type]bool{t: true}
	for level := []reflect.Type{t}; len(level) > 0; {
		plain, tagged := map[string]int{}, map[string]int{}
		var deeper []reflect.Type
		for _, st := range level {
			for f := range st.Fields() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				inner := f.Type
				if inner.Kind() == reflect.Pointer && inner.Name() == "" {
					inner = inner.Elem()
				}
				embedded := f.Anonymous && inner.Kind() == reflect.Struct
				switch {
				case f.Tag.Get("json") == "-", !f.IsExported() && !embedded, embedded && name == "" && seen[inner]:
					continue
				case embedded && name == "":
					deeper = append(deeper, inner)
					continue
				case name == "":
					plain[f.Name]++
				default:
					tagged[name]++
				}
				types = append(types, f.Type)
			}
		}
		for _, names := range []map[string]int{tagged, plain} {
			for name, n := range names {
				if n > 1 && !decided[name] {
					return nil, name
				}
				decided[name] = true
			}
		}
		for _, inner := range deeper {
			seen[inner] = true
		}
		level = deeper
	}
	return types, ""
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
