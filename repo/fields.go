package repo

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx/reflectx"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/schema"
)

// stateField is the tag of the optional field that says in which table a row is.
const stateField = "state"

// field is one field of the caller's struct that has a column.
type field struct {
	column string
	index  []int         // path in the struct
	time   bool          // it is a time
	stamp  bool          // the column is declared TIMESTAMP
	json   bool          // the column is declared JSON
	stores storage       // what the column makes of a value
	key    *keytype.Type // of a column with a key that is not scanned as it is
}

// fields maps the caller's struct to the columns of a resource. It does what sqlx does with `db` tags, but
// times travel as microseconds, so that no setting of the driver (parseTime, loc) has a say.
type fields struct {
	all   []field // every field with a column, in the order of the struct
	own   []field // those that are the application's own columns
	state []int   // the field for the state, or nil
	label []int

	id     keyField
	owners []keyField // in the order of the resource's columns
	parent keyField   // the parent's column; its index is nil where there is none

	methods bool // keys or names are read by methods of their own
}

func mapFields(typ reflect.Type, res schema.Resource) (fields, error) {
	var f fields
	if typ.Kind() != reflect.Struct {
		return f, fmt.Errorf("repo: %s is not a struct", typ)
	}
	columns := slices.DeleteFunc(res.Shared(), func(c string) bool { return c == res.Guard })
	indexes := map[string][]int{}
	for _, info := range reflectx.NewMapperFunc("db", strings.ToLower).TypeMap(typ).Index {
		name := info.Path
		if name == "" || strings.Contains(name, ".") || info.Embedded {
			continue
		}
		if !slices.Contains(columns, name) {
			if name == stateField && info.Field.Type.Kind() == reflect.String {
				f.state = info.Index
			} else if _, tagged := info.Field.Tag.Lookup("db"); tagged {
				return f, fmt.Errorf("repo: the field %s.%s has the column %q, which the resource %q does not declare",
					typ, info.Field.Name, name, res.Name)
			}
			continue
		}
		fl, err := fieldOf(typ, res, info)
		if err != nil {
			return f, err
		}
		if slices.ContainsFunc(res.Columns, func(c schema.Column) bool { return c.Name == name }) {
			fl.stores = storageOf(columnType(res, name))
			f.own = append(f.own, fl)
		} else if name == res.Label.Column || isKey(res, name) {
			f.methods = f.methods || !plainly(info.Field.Type)
		}
		f.all = append(f.all, fl)
		indexes[name] = info.Index
	}
	return f, f.needed(typ, res, indexes)
}

// fieldOf is the field of a struct whose column the resource has, or says why it cannot be.
func fieldOf(typ reflect.Type, res schema.Resource, info *reflectx.FieldInfo) (fl field, err error) {
	name, declared := info.Path, columnType(res, info.Path)
	refused := func(why string, args ...any) (field, error) {
		return fl, fmt.Errorf("repo: the field %s.%s "+why, append([]any{typ, info.Field.Name}, args...)...)
	}
	fl = field{column: name, index: info.Index, time: isTime(info.Field.Type), json: typeWord(declared) == "json", stamp: typeWord(declared) == "timestamp"}
	switch {
	case behindPointer(typ, info.Index):
		return refused("is in a struct behind a pointer, which may be nil; embed the struct itself")
	case !fl.time && timeBelow(info.Field.Type):
		return refused("is a %s; a time is a time.Time, *time.Time, sql.NullTime or sql.Null[time.Time]", info.Field.Type)
	case fl.stamp && !fl.time:
		return refused("is a %s, which would be another moment in each session's time zone: the column %q is a TIMESTAMP, "+
			"and its field a time.Time, *time.Time, sql.NullTime or sql.Null[time.Time]", info.Field.Type, name)
	}
	if isKey(res, name) {
		t, err := keytype.Parse(res.ColumnType(name))
		if err == nil {
			err = t.Fits(info.Field.Type)
		}
		if err != nil {
			return refused("for the column %q: %w", name, err)
		}
		if is := info.Field.Type.Kind(); is == reflect.Interface || t.Class != keytype.Integer && (t.Fixed || is != reflect.String) {
			fl.key = &t
		}
	} else if info.Field.Type.Kind() == reflect.Array { // a UUID in BINARY(16): its Value method gives text
		if t, err := keytype.Parse(declared); err == nil && t.Class == keytype.Bytes && t.Fits(info.Field.Type) == nil {
			fl.key = &t
		}
	}
	return fl, nil
}

// isKey says whether a column holds a key: the row's, its owner's, or its parent's.
func isKey(res schema.Resource, column string) bool {
	return slices.Contains(append(res.Owners(), res.ID, res.Parent.Column), column)
}

// needed finds the fields for the columns that a verb needs, those of keys and of the name.
func (f *fields) needed(typ reflect.Type, res schema.Resource, indexes map[string][]int) (err error) {
	index := func(column string) []int {
		if column != "" && indexes[column] == nil && err == nil {
			err = fmt.Errorf("repo: %s has no field with the tag `db:%q`", typ, column)
		}
		return indexes[column]
	}
	of := func(column string) keyField {
		k := keyField{column: column, index: index(column)}
		if column != "" && err == nil {
			k.typ, err = keytype.Parse(res.ColumnType(column))
		}
		return k
	}
	f.id, f.label, f.parent = of(res.ID), index(res.Label.Column), of(res.Parent.Column)
	for _, column := range res.Owners() {
		f.owners = append(f.owners, of(column))
	}
	if err == nil && f.label != nil && typ.FieldByIndex(f.label).Type.Kind() != reflect.String {
		err = fmt.Errorf("repo: the field for %q of %s must be a string", res.Label.Column, typ)
	}
	return err
}

// byColumn are the fields for some columns, if there is one for each.
func (f fields) byColumn(columns []string) (list []field, all bool) {
	for _, column := range columns {
		i := slices.IndexFunc(f.all, func(fl field) bool { return strings.EqualFold(fl.column, column) })
		if i < 0 {
			return nil, false
		}
		list = append(list, f.all[i])
	}
	return list, true
}

// behindPointer says whether one of the structs on the way to a field is a pointer.
func behindPointer(typ reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if typ = typ.Field(i).Type; typ.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

// isTime says whether a field of a type travels as microseconds.
func isTime(t reflect.Type) bool {
	return t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[*time.Time]() || t == reflect.TypeFor[sql.NullTime]() || t == reflect.TypeFor[sql.Null[time.Time]]()
}

// timeBelow says whether a type is a pointer, or several, to a type that is a time.
func timeBelow(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return isTime(t)
}

// columnType is the declared type of a column of the application's own, or empty.
func columnType(res schema.Resource, column string) string {
	for _, c := range res.Columns {
		if strings.EqualFold(c.Name, column) {
			return c.Type
		}
	}
	return ""
}

// selectList is what to select for the struct, in the order of targets.
func (f fields) selectList() string {
	list := make([]string, len(f.all))
	for i, fl := range f.all {
		list[i] = ident.Quote(fl.column)
		switch {
		case fl.stamp: // the moment itself, which no session's time zone has converted
			list[i] = "CAST(NULLIF(UNIX_TIMESTAMP(" + list[i] + "), 0) * 1000000 AS SIGNED)"
		case fl.time:
			list[i] = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + list[i] + ")"
		}
	}
	return strings.Join(list, ", ")
}

// targets are the Scan targets for selectList.
func (f fields) targets(row reflect.Value) []any {
	targets := make([]any, len(f.all), len(f.all)+10)
	for i, fl := range f.all {
		target := reflectx.FieldByIndexes(row, fl.index)
		switch {
		case fl.time:
			targets[i] = &timeTarget{target}
		case fl.key != nil:
			targets[i] = fl.key.Scan(func(value any) error { return fl.key.Set(target, value) })
		case isBytes(target.Type()):
			targets[i] = target.Addr().Convert(bytesPointer).Interface()
		default:
			targets[i] = target.Addr().Interface()
		}
	}
	return targets
}

var bytesPointer = reflect.TypeFor[*[]byte]()

// isBytes: database/sql scans a NULL into a []byte, but into no other type of bytes.
func isBytes(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.ConvertibleTo(bytesPointer) && !pointer.Implements(reflect.TypeFor[sql.Scanner]())
}

// args are the values of some fields as arguments of a statement.
func (f fields) args(row reflect.Value, of []field) ([]any, error) {
	args := make([]any, len(of))
	for i, fl := range of {
		is := reflectx.FieldByIndexesReadOnly(row, fl.index).Interface()
		v, err := any(nil), error(nil)
		if fl.key != nil {
			v, err = fl.key.Value(is)
		} else {
			v, err = value(is)
		}
		if err != nil {
			return nil, fmt.Errorf("the value for column %q: %w", fl.column, err)
		}
		if raw, isBytes := v.([]byte); isBytes && fl.json && raw != nil {
			v = json.RawMessage(raw) // MySQL takes no JSON from binary text, as which bytes travel
		}
		args[i] = v
	}
	return args, nil
}

// copiedArgs is args, sharing no memory with the row.
func (f fields) copiedArgs(row reflect.Value, of []field) ([]any, error) {
	args, err := f.args(row, of)
	for i, arg := range args {
		switch raw := arg.(type) {
		case []byte:
			args[i] = bytes.Clone(raw)
		case json.RawMessage:
			args[i] = json.RawMessage(bytes.Clone(raw))
		}
	}
	return args, err
}
