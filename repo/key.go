package repo

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/keytype"
)

// Key is what can name a row: an integer, text, or bytes as those of UUIDs and ULIDs (16), KSUIDs (20) and
// XIDs (12).
type Key interface {
	~int | ~int64 | ~uint64 | ~string | ~[12]byte | ~[16]byte | ~[20]byte
}

// keyField is a field of the caller's struct whose column holds a key.
type keyField struct {
	column string
	index  []int
	typ    keytype.Type
}

// of is the field's value as the column holds it.
func (f keyField) of(row reflect.Value) (any, error) {
	v, err := f.typ.Value(row.FieldByIndex(f.index).Interface())
	if err != nil {
		return nil, fmt.Errorf("the value for column %q: %w", f.column, err)
	}
	return v, nil
}

// into is a target of Scan for the column.
func (f keyField) into(at *any) any {
	return f.typ.Scan(func(value any) error {
		*at = value
		return nil
	})
}

// makesIDs says whether the application makes the ids, not AUTO_INCREMENT.
func (r *untyped) makesIDs() bool { return !r.fields.id.typ.Auto }

func (r *untyped) ownerOf(row reflect.Value) ([]any, error) {
	owner := make([]any, len(r.fields.owners))
	for i, f := range r.fields.owners {
		var err error
		if owner[i], err = f.of(row); err != nil {
			return nil, err
		}
	}
	return owner, nil
}

// scopeOf is the owner of a row, encoded.
func (r *untyped) scopeOf(row reflect.Value) (string, error) {
	owner, err := r.ownerOf(row)
	if err != nil {
		return "", err
	}
	return encodeOwner(owner)
}

// idOf is the id of a row, and the id encoded.
func (r *untyped) idOf(row reflect.Value) (id any, key string, err error) {
	if id, err = r.fields.id.of(row); err == nil {
		key, err = onerow.EncodeKey(id)
	}
	return id, key, err
}

// encodeOwner is the owner as the toolkit's tables hold it; "0" where rows have none.
func encodeOwner(owner []any) (string, error) {
	if len(owner) == 0 {
		return onerow.EncodeKey(0)
	}
	return onerow.EncodeKey(owner...)
}

// show is an id for people.
func (r *untyped) show(id any) string {
	if named, ok := r.typed(id).(fmt.Stringer); ok {
		return named.String()
	}
	return keytype.Show(id)
}

// typed is a key of the id's column as the repository's ID; nil, of a row that is to be made, stays nil.
func (r *untyped) typed(key any) any {
	if key == nil || r.idType == nil {
		return key
	}
	id := reflect.New(r.idType).Elem()
	if r.fields.id.typ.Set(id, key) != nil {
		return key // of a row that somebody else wrote: it is no ID
	}
	return id.Interface()
}

// ownerKey is the owner as its columns hold it.
func (r *untyped) ownerKey(owner any) ([]any, error) {
	v := reflect.ValueOf(owner)
	var key []any
	for _, f := range r.fields.owners {
		part := v
		if v.Kind() == reflect.Struct {
			part = v.FieldByIndex(tagged(v.Type(), f.column))
		}
		value, err := f.typ.Value(part.Interface())
		if err != nil {
			return nil, fmt.Errorf("the owner: %w", err)
		}
		key = append(key, value)
	}
	return key, nil
}

// checkTypes says whether ID and Owner fit the columns.
func (r *untyped) checkTypes(owner reflect.Type) error {
	if err := r.fields.id.typ.Fits(r.idType); err != nil {
		return fmt.Errorf("repo: the ids of %q are %s: %w; NewOf names the types", r.res.Name, r.res.IDType, err)
	}
	if n := len(r.fields.owners); n > 1 && (owner.Kind() != reflect.Struct || owner.NumField() != n) {
		return fmt.Errorf("repo: the owner of %q has the columns %s: name a struct of these with NewOf, with `db` tags",
			r.res.Name, strings.Join(r.res.Owners(), ", "))
	}
	for _, f := range r.fields.owners {
		typ := owner
		if owner.Kind() == reflect.Struct {
			index := tagged(owner, f.column)
			if index == nil {
				return fmt.Errorf("repo: %s has no exported field with the tag `db:%q`", owner, f.column)
			}
			typ = owner.FieldByIndex(index).Type
		}
		if err := f.typ.Fits(typ); err != nil {
			return fmt.Errorf("repo: %q of %q is %s: %w; NewOf names the types", f.column, r.res.Name, r.res.ColumnType(f.column), err)
		}
	}
	return nil
}

// tagged is the field of a struct with the column as its tag, or nil.
func tagged(typ reflect.Type, column string) []int {
	for field := range typ.Fields() {
		if field.Tag.Get("db") == column && field.IsExported() {
			return field.Index
		}
	}
	return nil
}
