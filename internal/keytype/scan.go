package keytype

import (
	"bytes"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// Set writes a value of the column's into a Go variable of a type that fits.
func (t Type) Set(into reflect.Value, value any) error {
	switch v := value.(type) {
	case nil:
		into.SetZero()
		return nil
	case int64:
		switch {
		case into.CanInt() && !into.OverflowInt(v):
			into.SetInt(v)
			return nil
		case into.CanUint() && v >= 0 && !into.OverflowUint(uint64(v)):
			into.SetUint(uint64(v)) //nolint:gosec // it is not negative
			return nil
		}
	case uint64:
		if into.CanUint() && !into.OverflowUint(v) {
			into.SetUint(v)
			return nil
		}
	case string:
		if into.Kind() == reflect.String {
			into.SetString(v)
			return nil
		}
		if text, ok := into.Addr().Interface().(encoding.TextUnmarshaler); ok {
			return text.UnmarshalText([]byte(v))
		}
	case []byte:
		switch {
		case into.Kind() == reflect.String:
			into.SetString(string(v))
			return nil
		case into.Kind() == reflect.Array && len(v) <= into.Len():
			into.SetZero()
			reflect.Copy(into, reflect.ValueOf(v))
			return nil
		}
	}
	if into.Kind() == reflect.Interface {
		into.Set(reflect.ValueOf(value))
		return nil
	}
	return fmt.Errorf("a %T does not go into a %s", value, into.Type())
}

// Scan is a target of Scan for the column: it gives to what is read.
func (t Type) Scan(to func(value any) error) any { return scanner{t, to} }

type scanner struct {
	t  Type
	to func(value any) error
}

func (s scanner) Scan(src any) error {
	switch v := src.(type) {
	case nil: // of a column that is no key
		return s.to(nil)
	case []byte:
		return s.fromBytes(v)
	case string:
		return s.fromBytes([]byte(v))
	case int64:
		if s.t.Class == Integer {
			return s.to(v)
		}
	case uint64:
		if s.t.Class == Integer && v <= math.MaxInt64 {
			return s.to(int64(v)) //nolint:gosec // it fits
		}
		if s.t.Class == Integer {
			return s.to(v)
		}
	}
	return fmt.Errorf("a key came as %T", src)
}

func (s scanner) fromBytes(v []byte) error {
	switch s.t.Class {
	case Text:
		if s.t.Fixed { // a sql_mode shows what CHAR is filled up with
			v = bytes.TrimRight(v, " ")
		}
		return s.to(string(v))
	case Bytes:
		return s.to(bytes.Clone(v))
	}
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return s.to(n)
	}
	n, err := strconv.ParseUint(string(v), 10, 64)
	if err != nil {
		return fmt.Errorf("a key came as %q, which is no integer", v)
	}
	return s.to(n)
}
