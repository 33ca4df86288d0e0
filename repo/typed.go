package repo

import (
	"reflect"

	"github.com/onerow/onerow"
)

// result is an onerow.Result of any type.
type result struct {
	row               reflect.Value
	changed, replayed bool
}

// answer is a result in the caller's type. What is generic is compiled again for each type of rows, so it
// converts and does nothing else.
func answer[T any](res result, err error) (onerow.Result[T], error) {
	return onerow.Result[T]{Row: rowOf[T](res.row), Changed: res.changed, Replayed: res.replayed}, err
}

// rowOf is a row in the caller's type, zero where there is none.
func rowOf[T any](row reflect.Value) (none T) {
	if !row.IsValid() {
		return none
	}
	return *row.Addr().Interface().(*T)
}

// pageOf is a page in the caller's type.
func pageOf[T any](p page, err error) (Page[T], error) {
	items := []T{}
	if p.items.IsValid() && p.items.Len() > 0 {
		items = p.items.Interface().([]T)
	}
	return Page[T]{Items: items, Next: p.next}, err
}

// onRow is a callback of the caller's that takes a row of any type.
func onRow[T any](fn func(row *T) error) func(row reflect.Value) error {
	return func(row reflect.Value) error { return fn(row.Addr().Interface().(*T)) }
}

// copyOf is another row with the same fields.
func copyOf(row reflect.Value) reflect.Value {
	c := reflect.New(row.Type()).Elem()
	c.Set(row)
	return c
}
