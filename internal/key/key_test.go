package key_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/key"
)

type (
	id     int32
	tenant string
	raw    []byte
)

func TestEncode(t *testing.T) {
	for _, c := range []struct {
		parts []any
		want  string
	}{
		{[]any{42}, "42"}, {[]any{int8(-1)}, "-1"}, {[]any{id(7)}, "7"}, {[]any{uint8(7)}, "7"}, {[]any{0}, "0"},
		{[]any{uint64(math.MaxUint64)}, "18446744073709551615"}, {[]any{int64(math.MinInt64)}, "-9223372036854775808"},
		{[]any{""}, "'"}, {[]any{"abc"}, "'abc"}, {[]any{"42"}, "'42"}, {[]any{tenant("a,b'c%2C")}, "'a%2Cb%27c%252C"}, {[]any{"0x00"}, "'0x00"},
		{[]any{[]byte{0, 255}}, "0x00ff"}, {[]any{[]byte{}}, "0x"}, {[]any{raw("A")}, "0x41"}, {[]any{[2]byte{1, 2}}, "0x0102"},
		{[]any{7, "en"}, "7,'en"}, {[]any{"", "", []byte(nil)}, "',',0x"}, {[]any{"ä\x00\xff"}, "'ä\x00\xff"},
	} {
		got, err := key.Encode(c.parts...)
		if err != nil || got != c.want {
			t.Errorf("%v: %q, %v; want %q", c.parts, got, err, c.want)
		}
	}
	if got, err := key.Encode(strings.Repeat("x", key.MaxLen-1)); err != nil || len(got) != key.MaxLen {
		t.Error(got, err)
	}
	var nilPointer *int
	for _, parts := range [][]any{nil, {nil}, {1, nil}, {nilPointer}, {1.5}, {true}, {struct{}{}}, {[]int{1}}, {errors.New("x")},
		{strings.Repeat("x", key.MaxLen)}, {strings.Repeat(",", 171)}} {
		if got, err := key.Encode(parts...); !errors.Is(err, key.ErrInvalid) {
			t.Errorf("%v: %q, %v", parts, got, err)
		}
	}
}

func TestDecode(t *testing.T) {
	got, err := key.Decode("7,'a%2Cb,0x00ff,18446744073709551615,-3,',0x")
	if want := []any{int64(7), "a,b", []byte{0, 255}, uint64(math.MaxUint64), int64(-3), "", []byte{}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, %v", got, err)
	}
	for _, encoded := range []string{"", ",", "7,", "007", "+7", "-0", "0X00", "0xAB", "0xabc", "0xzz", "abc", "'a'b", "'a%", "'a%2c", "'%41", "1.5", " 7", "18446744073709551616",
		"'" + strings.Repeat("x", key.MaxLen)} {
		if got, err := key.Decode(encoded); !errors.Is(err, key.ErrInvalid) {
			t.Errorf("%q: %v, %v", encoded, got, err)
		}
	}
}

// FuzzKey: what was encoded comes back, and two keys are the same text only if they are the same.
func FuzzKey(f *testing.F) {
	f.Add(int64(7), uint64(7), "7", []byte("7"), uint8(0))
	f.Add(int64(-1), uint64(math.MaxUint64), "a,'%2C", []byte{0}, uint8(27))
	f.Add(int64(0), uint64(0), "%", []byte(nil), uint8(255))
	f.Fuzz(func(t *testing.T, i int64, u uint64, s string, b []byte, order uint8) {
		// Keys of one and two parts, in all combinations: the same value appears as number, text and bytes.
		values := []any{i, u, s, b, fmt.Sprint(i), []byte(s), string(b)}
		keys := [][]any{{values[order%7]}, {values[order/7%7]}, {values[order%7], values[order/7%7]}, {values[order/7%7], values[order%7]}, {fmt.Sprint(i, ",", s)}}
		seen := map[string][]any{}
		for _, parts := range keys {
			encoded, err := key.Encode(parts...)
			if err != nil {
				if !errors.Is(err, key.ErrInvalid) {
					t.Fatal(err)
				}
				continue
			}
			decoded, err := key.Decode(encoded)
			if err != nil || !same(decoded, parts) {
				t.Fatalf("%v became %q, which is %v, %v", parts, encoded, decoded, err)
			}
			if before, taken := seen[encoded]; taken && !same(before, parts) {
				t.Fatalf("%v and %v are both %q", before, parts, encoded)
			}
			seen[encoded] = parts
		}
	})
}

// FuzzDecode: any text either is what its parts are encoded as, or no key.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"7", "'a%2C", "0x00,7", "", "'%", "-0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, encoded string) {
		parts, err := key.Decode(encoded)
		if err != nil {
			if !errors.Is(err, key.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		if again, err := key.Encode(parts...); err != nil || again != encoded {
			t.Fatalf("%q became %v and %q, %v", encoded, parts, again, err)
		}
	})
}

// same compares keys as values of columns: the kind of an integer does not matter.
func same(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, xIsBytes := a[i].([]byte)
		y, yIsBytes := b[i].([]byte)
		switch {
		case xIsBytes != yIsBytes, xIsBytes && !bytes.Equal(x, y), !xIsBytes && fmt.Sprint(a[i]) != fmt.Sprint(b[i]):
			return false
		case !xIsBytes && (reflect.TypeOf(a[i]).Kind() == reflect.String) != (reflect.TypeOf(b[i]).Kind() == reflect.String):
			return false
		}
	}
	return true
}
