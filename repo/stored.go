package repo

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/onerow/onerow/internal/keytype"
)

// storage is what a column makes of a value, as far as its declared type tells.
type storage struct {
	kind   storageKind
	typ    keytype.Type // of an integer, a text, bytes
	octets int          // how many bytes fit, where it counts these and not characters
}

type storageKind int

const (
	storesSomehow storageKind = iota // rounds, fills up, spells anew, has a sql_mode decide
	storesIntegers
	storesDoubles
	storesText
	storesBytes
	storesMicroseconds
)

var (
	octetsOf = map[string]int{
		"tinytext": 1<<8 - 1, "text": 1<<16 - 1, "mediumtext": 1<<24 - 1, "longtext": 1<<24 - 1,
		"tinyblob": 1<<8 - 1, "blob": 1<<16 - 1, "mediumblob": 1<<24 - 1, "longblob": 1<<24 - 1,
	}
	microseconds = regexp.MustCompile(`(?i)^\s*datetime\s*\(\s*6\s*\)`)
	unsigned     = regexp.MustCompile(`(?i)\b(unsigned|zerofill)\b`)
)

// storageOf reads a declared type. A server that is not strict cuts what does not fit, so what fits is part
// of it.
func storageOf(declared string) (s storage) {
	word := typeWord(declared)
	rest := strings.TrimSpace(declared)[len(word):]
	sized := strings.HasPrefix(strings.TrimSpace(rest), "(")
	switch octets := octetsOf[word]; {
	case octets > 0 && sized: // the server looks for the type that it names
		return s
	case octets > 0 && strings.HasSuffix(word, "blob"):
		return storage{kind: storesBytes, octets: octets}
	case octets > 0:
		s.octets, declared = octets, "varchar(1)"+rest
	case word == "bool", word == "boolean":
		declared = "tinyint"
	case word == "double" && !sized && !unsigned.MatchString(rest):
		return storage{kind: storesDoubles}
	case microseconds.MatchString(declared):
		return storage{kind: storesMicroseconds}
	}
	typ, err := keytype.Parse(declared)
	if err != nil {
		return storage{}
	}
	s.typ, s.kind = typ, map[keytype.Class]storageKind{keytype.Integer: storesIntegers, keytype.Text: storesText, keytype.Bytes: storesBytes}[typ.Class]
	s.typ.Unsigned = unsigned.MatchString(rest)
	return s
}

// asStored is the row as it is going to be read, but for an id that the database makes; invalid where T has
// fields that the INSERT does not determine (times, the flag, the version; keys that are read by methods of
// their own), or the plan does not tell what the server makes of a value. It shares no memory with the
// caller's.
func (r *untyped) asStored(w newRow) (none reflect.Value) {
	known := 1 + len(r.fields.own) + len(r.home) // the id
	if r.fields.label != nil {
		known++
	}
	if len(r.fields.all) > known || r.fields.methods {
		return none
	}
	row := reflect.New(r.typ).Elem()
	for i, f := range r.fields.owners {
		if f.typ.Set(row.FieldByIndex(f.index), w.owner[i]) != nil {
			return none
		}
	}
	if f := r.fields.parent; f.index != nil && f.typ.Set(row.FieldByIndex(f.index), w.parent) != nil {
		return none
	}
	if f := r.fields.id; w.id != nil && f.typ.Set(row.FieldByIndex(f.index), w.id) != nil {
		return none
	}
	for _, f := range r.fields.own {
		if !f.store(row.FieldByIndex(f.index), w.row.FieldByIndex(f.index)) {
			return none
		}
	}
	return row
}

// plainly says whether a field for a key or a name is read as what its column holds, by no method of its own.
func plainly(typ reflect.Type) bool {
	return typ.Kind() == reflect.Array || typ.Kind() != reflect.Interface && !hasMethods(typ)
}

func hasMethods(typ reflect.Type) bool {
	return reflect.PointerTo(typ).Implements(reflect.TypeFor[sql.Scanner]()) || reflect.PointerTo(typ).Implements(reflect.TypeFor[driver.Valuer]())
}

// store sets a field to what a read of the column gives of a value, and says whether that is known.
func (f field) store(to, from reflect.Value) bool {
	switch {
	case f.stamp: // NULL may be now
		return false
	case f.time:
		return f.storeTime(to, from)
	case f.key != nil:
		to.Set(from)
		return true
	case from.Kind() == reflect.Pointer:
		if from.IsNil() {
			return true
		}
		p := reflect.New(from.Type().Elem())
		to.Set(p)
		return f.stores.plain(p.Elem(), from.Elem())
	case from.Kind() == reflect.Slice && from.IsNil() && !hasMethods(from.Type()): // NULL
		return true
	case from.Kind() == reflect.Struct && from.Type().PkgPath() == "database/sql": // sql.NullString and its like
		valid := from.FieldByName("Valid")
		if !valid.IsValid() || !valid.Bool() {
			return valid.IsValid()
		}
		to.FieldByName("Valid").SetBool(true)
		return f.stores.plain(to.Field(0), from.Field(0))
	}
	return f.stores.plain(to, from)
}

// storeTime does so for times, which travel as microseconds.
func (f field) storeTime(to, from reflect.Value) bool {
	v, err := value(from.Interface())
	if err != nil || v == nil {
		return err == nil
	}
	text, isText := v.(string)
	if !isText || f.stores.kind != storesMicroseconds {
		return false
	}
	at, err := time.ParseInLocation(datetime, text, time.UTC)
	if err != nil || at.Year() < 1 || at.Year() > 9999 {
		return false
	}
	return (&timeTarget{to}).Scan(at.UnixMicro()) == nil
}

// plain does so for what is neither NULL nor behind a pointer.
func (s storage) plain(to, from reflect.Value) bool {
	if hasMethods(from.Type()) {
		return false
	}
	switch {
	case s.kind == storesIntegers && from.Kind() == reflect.Bool:
	case s.kind == storesIntegers && (from.CanInt() || from.CanUint()):
		if _, err := s.typ.Value(from.Interface()); err != nil {
			return false
		}
	case s.kind == storesDoubles && from.CanFloat():
	case from.Kind() == reflect.String && s.keeps(from.String()):
	case s.kind == storesBytes && from.Kind() == reflect.Slice && from.Type().Elem().Kind() == reflect.Uint8:
		to.SetBytes(bytes.Clone(from.Bytes()))
		return !from.IsNil() && s.holds(from.Len())
	default:
		return false
	}
	to.Set(from)
	return true
}

// keeps says whether the column gives a text back as it is.
func (s storage) keeps(text string) bool {
	switch s.kind {
	case storesBytes:
		return s.holds(len(text))
	case storesText:
		ascii := strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
		if !utf8.ValidString(text) || !ascii && s.typ.Charset != "utf8mb4" {
			return false
		}
		n := utf8.RuneCountInString(text)
		if s.octets > 0 {
			n = len(text)
		}
		return s.holds(n) && (!s.typ.Fixed || !strings.HasSuffix(text, " "))
	}
	return false
}

// holds says whether a value of so many characters, or bytes, fits; a column of fixed length fills up others,
// and shows that, or does not, as a sql_mode has it.
func (s storage) holds(n int) bool {
	switch {
	case s.octets > 0:
		return n <= s.octets
	case s.typ.Fixed:
		return n == s.typ.Length
	}
	return n <= s.typ.Length
}
