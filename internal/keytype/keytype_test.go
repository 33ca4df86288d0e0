package keytype_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/onerow/onerow/internal/key"
	"github.com/onerow/onerow/internal/keytype"
)

func TestParse(t *testing.T) {
	for declared, want := range map[string]keytype.Type{
		"BIGINT NOT NULL AUTO_INCREMENT":        {Auto: true, Length: 8},
		"int(11) unsigned":                      {Unsigned: true, Length: 4},
		"CHAR(5) COLLATE 'ascii_bin'":           {Class: keytype.Text, Length: 5, Fixed: true, Charset: "ascii"},
		"CHAR(5) CHARACTER SET utf8":            {Class: keytype.Text, Length: 5, Fixed: true, Charset: "utf8mb3"},
		"CHAR(36) CHARACTER SET ascii NOT NULL": {Class: keytype.Text, Length: 36, Fixed: true, Charset: "ascii"},
		"varchar(40) collate latin1_bin":        {Class: keytype.Text, Length: 40, Charset: "latin1"},
		"VARCHAR (7)":                           {Class: keytype.Text, Length: 7, Charset: "utf8mb4"},
		"BINARY(16)":                            {Class: keytype.Bytes, Length: 16, Fixed: true},
		"varbinary(255) NOT NULL":               {Class: keytype.Bytes, Length: 255},
	} {
		if got, err := keytype.Parse(declared); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", declared, got, err, want)
		}
	}
	for _, declared := range []string{"", "TEXT", "CHAR", "CHAR(36) AUTO_INCREMENT", "BINARY", "DOUBLE", "DATETIME(6)", "BIT(8)", "VARCHAR(999999)"} {
		if got, err := keytype.Parse(declared); err == nil || !strings.Contains(err.Error(), "is no type of a key") {
			t.Errorf("%q: %+v, %v", declared, got, err)
		}
	}
	if got := keytype.Plain("bigint unsigned auto_increment"); got != "bigint unsigned NOT NULL" {
		t.Error(got)
	}
}

// TestRoundTrip: what goes to the column comes back, as the server sends it in either protocol.
func TestRoundTrip(t *testing.T) {
	type name string
	id := uuid.MustParse("ABCDEF00-0000-7000-8000-000000000001")
	for _, tt := range []struct {
		declared string
		value    any
		stored   any // by the column
	}{
		{"BIGINT", int64(math.MinInt64), int64(math.MinInt64)},
		{"BIGINT", int8(-3), int64(-3)},
		{"BIGINT UNSIGNED", uint64(math.MaxUint64), uint64(math.MaxUint64)},
		{"BIGINT UNSIGNED", uint64(7), int64(7)},
		{"VARCHAR(20)", name("é🙂'\\"), "é🙂'\\"},
		{"CHAR(36)", id, "abcdef00-0000-7000-8000-000000000001"},
		{"BINARY(16)", id, id[:]},
		{"VARBINARY(20)", [3]byte{0, 1, 255}, []byte{0, 1, 255}},
		{"VARBINARY(20)", "\x00\xff", []byte("\x00\xff")},
	} {
		column, err := keytype.Parse(tt.declared)
		if err != nil {
			t.Fatal(err)
		}
		typ := reflect.TypeOf(tt.value)
		got, err := column.Value(tt.value)
		if ferr := column.Fits(typ); err != nil || ferr != nil || !reflect.DeepEqual(got, tt.stored) {
			t.Errorf("%s: %v is stored as %#v, %v, %v", tt.declared, tt.value, got, err, ferr)
		}
		sent := []any{got}
		if text, isText := got.(string); isText {
			sent = append(sent, []byte(text))
		} else if column.Class == keytype.Integer {
			sent = append(sent, []byte(keytype.Literal(got)))
		}
		for _, src := range sent {
			back := reflect.New(typ).Elem()
			if err := column.Scan(func(v any) error { return column.Set(back, v) }).(interface{ Scan(any) error }).Scan(src); err != nil || back.Interface() != tt.value {
				t.Errorf("%s: %#v comes back as %v, %v", tt.declared, src, back, err)
			}
		}
	}
}

// TestIntegers: what a server that is not strict would cut is refused.
func TestIntegers(t *testing.T) {
	for declared, most := range map[string]uint64{
		"TINYINT": 1<<7 - 1, "SMALLINT UNSIGNED": 1<<16 - 1, "MEDIUMINT": 1<<23 - 1, "INT": 1<<31 - 1, "INT UNSIGNED": 1<<32 - 1,
		"BIGINT": math.MaxInt64, "BIGINT UNSIGNED": math.MaxUint64,
	} {
		column, err := keytype.Parse(declared)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := column.Value(most); err != nil {
			t.Errorf("%s: %d: %v", declared, most, err)
		}
		if _, err := column.Value(most + 1); most != math.MaxUint64 && !errors.Is(err, key.ErrInvalid) {
			t.Errorf("%s: %d: %v", declared, most+1, err)
		}
		least := -int64(most) - 1 //nolint:gosec // wraps for the largest, which is unsigned
		if column.Unsigned {
			least = 0
		}
		if _, err := column.Value(least); err != nil {
			t.Errorf("%s: %d: %v", declared, least, err)
		}
		if _, err := column.Value(least - 1); least != math.MinInt64 && !errors.Is(err, key.ErrInvalid) {
			t.Errorf("%s: %d: %v", declared, least-1, err)
		}
	}
}

func TestCompare(t *testing.T) {
	ordered := [][]any{{int64(-1), int64(0), int64(math.MaxInt64), uint64(math.MaxInt64 + 1), uint64(math.MaxUint64)}, {"", "a", "b"}, {[]byte{}, []byte{0}, []byte{1}}}
	for _, list := range ordered {
		for i, a := range list {
			for j, b := range list {
				if got := keytype.Compare(a, b); got > 0 != (i > j) || got < 0 != (i < j) {
					t.Errorf("%v and %v: %d", a, b, got)
				}
			}
		}
	}
}
