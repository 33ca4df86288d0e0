package names_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/onerow/onerow/names"
)

func ExampleKind_Key() {
	for _, s := range []string{"  Email   Campaign ", "ＥＭＡＩＬ campaign", "Straße", "STRASSE"} {
		key, err := names.KindName.Key(s)
		fmt.Printf("%q %v\n", key, err)
	}
	_, err := names.KindName.Key("a\x00b")
	fmt.Println(err)
	// Output:
	// "email campaign" <nil>
	// "email campaign" <nil>
	// "strasse" <nil>
	// "strasse" <nil>
	// names: name "a\x00b" is invalid: character 2 is the control character or line break U+0000; choose another name
}

func TestNameKeys(t *testing.T) {
	tests := []struct{ what, in, want string }{
		{"its own key", "email campaign", "email campaign"},
		{"case", "Email CAMPAIGN", "email campaign"},
		{"white space at the ends", " \t\r\n\u00a0\u3000a\u2003\n", "a"},
		{"runs of white space", "a  b\u00a0\u2003c\u3000d\u1680e", "a b c d e"},
		{"tab is white space", "a\tb", "a b"},
		{"spaces that NFKC brings up", "a ¨b", "a \u0308b"},
		{"mark whose space is trimmed", "¨", "\u0308"},
		{"quotes and SQL", "x' for key 'PRIMARY`; DROP TABLE a --", "x' for key 'primary`; drop table a --"},
		{"composed and not", "Cafe\u0301", "café"},
		{"order of marks", "a\u0323\u0302 \u00e2\u0323", "ậ ậ"},
		{"full width", "ＡＢＣ１２３", "abc123"},
		{"half-width katakana", "ｶﾞ", "ガ"},
		{"ligature", "ﬁnal oﬃce", "final office"},
		{"fraction, power, circled", "½ x² ①", "1⁄2 x2 1"},
		{"ellipsis", "a…", "a..."},
		{"sharp s, capital sharp s", "ß ẞ SS", "ss ss ss"},
		{"final sigma", "ΣΊΣΥΦΟΣ σίσυφος", "σίσυφοσ σίσυφοσ"},
		{"iota below, its upper case, its mark", "ᾳ ᾼ Α\u0345", "αι αι αι"},
		{"iota below with another mark", "ᾳ\u0327 Α\u0327Ι", "α\u0327ι α\u0327ι"},
		{"Turkish dotted capital I", "İ", "i\u0307"},
		{"Turkish dotless i is a letter", "ı", "ı"},
		{"long s, Kelvin, Angstrom", "ſ K Å", "s k å"},
		{"composes only in lower case", "J\u030c", "ǰ"},
		{"Hangul jamo", "\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"},
		{"expands to 18 characters", "ﷺ", "صلى الله عليه وسلم"},
		{"Cherokee folds upwards", "ꭰ Ꭰ", "Ꭰ Ꭰ"},
		{"right to left", "שלום עולם", "שלום עולם"},
		{"4-byte letters with case", "𐐀", "𐐨"},
		{"mathematical letters", "𝓗𝓸𝓶𝓮", "home"},
		{"emoji with joiners", "👩‍👩‍👧", "👩‍👩‍👧"},
		{"emoji with variation selector", "❤️", "❤️"},
		{"zero-width inside counts", "a\u200bb", "a\u200bb"},
		{"look-alikes stay apart", "pаypal", "pаypal"}, // the first а is Cyrillic
		{"accent stays", "resume résumé", "resume résumé"},
		{"lone mark can be seen", "\u0301", "\u0301"},
		{"drawn format character", "\u0600", "\u0600"},
		{"replacement character is a character", "\ufffd", "\ufffd"},
		{"private use", "\ue000", "\ue000"},
		{"200 characters", strings.Repeat("A", 200), strings.Repeat("a", 200)},
		{"200 characters of 4 bytes", strings.Repeat("😀", 200), strings.Repeat("😀", 200)},
		{"200 characters and white space around", strings.Repeat(" ", 999) + strings.Repeat("b", 200) + "\n", strings.Repeat("b", 200)},
		{"key of 254", strings.Repeat("ß", 127), strings.Repeat("ss", 127)},
		{"key of 255", strings.Repeat("ß", 127) + "x", strings.Repeat("ss", 127) + "x"},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			got, err := names.KindName.Key(tt.in)
			if err != nil || got != tt.want {
				t.Errorf("Name(%+q) = %+q, %v; want %+q", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestNameErrors(t *testing.T) {
	tests := []struct {
		what, in      string
		want          error
		length, limit int
	}{
		{"nothing", "", names.ErrEmpty, 0, 0},
		{"white space", " \t\n\u3000", names.ErrEmpty, 0, 0},
		{"zero-width space, joiner, mark of order", "\u200b\u200d\ufeff", names.ErrEmpty, 0, 0},
		{"invisible between spaces", "\u200b \u200b", names.ErrEmpty, 0, 0},
		{"variation selectors", "\ufe0f\U000e0100", names.ErrEmpty, 0, 0},
		{"Hangul fillers", "\u3164\uffa0\u115f", names.ErrEmpty, 0, 0},
		{"blank Braille", "\u2800", names.ErrEmpty, 0, 0},
		{"direction marks", "\u202e\u2066", names.ErrEmpty, 0, 0},
		{"invalid UTF-8", "a\xffb", names.ErrInvalid, 0, 0},
		{"half a character", "a\xf0\x9f\x98", names.ErrInvalid, 0, 0},
		{"surrogate", "\xed\xa0\x80", names.ErrInvalid, 0, 0},
		{"overlong slash", "\xc0\xaf", names.ErrInvalid, 0, 0},
		{"NUL", "a\x00", names.ErrInvalid, 0, 0},
		{"only NUL", "\x00", names.ErrInvalid, 0, 0},
		{"line feed inside", "a\nb", names.ErrInvalid, 0, 0},
		{"carriage return inside", "a\rb", names.ErrInvalid, 0, 0},
		{"next line inside", "a\u0085b", names.ErrInvalid, 0, 0},
		{"line separator inside", "a\u2028b", names.ErrInvalid, 0, 0},
		{"escape", "\x1b[31mred", names.ErrInvalid, 0, 0},
		{"delete", "a\x7f", names.ErrInvalid, 0, 0},
		{"C1 control", "a\u009bb", names.ErrInvalid, 0, 0},
		{"201 characters", strings.Repeat("a", 201), names.ErrTooLong, 201, 200},
		{"300 emoji", strings.Repeat("😀", 300), names.ErrTooLong, 300, 200},
		{"key of 256", strings.Repeat("ß", 128), names.ErrTooLong, 256, 255},
		{"15 ligatures of 18 characters, 4 spaces each", strings.Repeat("ﷺ", 15), names.ErrTooLong, 270, 255},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			key, err := names.KindName.Key(tt.in)
			var detail *names.Error
			if !errors.Is(err, tt.want) || !errors.As(err, &detail) || key != "" {
				t.Fatalf("Name(%+q) = %q, %v; want %v", tt.in, key, err, tt.want)
			}
			if detail.Length != tt.length || detail.Limit != tt.limit {
				t.Errorf("length %d of %d, want %d of %d", detail.Length, detail.Limit, tt.length, tt.limit)
			}
			if n := utf8.RuneCountInString(detail.Name); n > 41 {
				t.Errorf("the detail's name has %d characters", n)
			}
			for _, r := range err.Error() {
				if !unicode.IsGraphic(r) || r == utf8.RuneError {
					t.Errorf("message %q contains %U", err, r)
				}
			}
		})
	}
}

// Every single character has a key that is its own key, and so have its other spellings and its other cases.
func TestNameOfEveryCharacter(t *testing.T) {
	if norm.Version != cases.UnicodeVersion {
		t.Errorf("norm knows Unicode %s and cases knows %s", norm.Version, cases.UnicodeVersion)
	}
	fold := cases.Fold()
	for r := rune(0); r <= 0xf0000; r++ { // private use is beyond
		if !utf8.ValidRune(r) || r > 0x40000 && r < 0xe0000 { // nothing is assigned there
			continue
		}
		s := "a" + string(r) + "b"
		key, err := names.KindName.Key(s)
		if err != nil {
			lineBreak := r == 0x2028 || r == 0x2029
			if !errors.Is(err, names.ErrInvalid) || !unicode.IsControl(r) && !lineBreak {
				t.Errorf("%U: %v", r, err)
			}
			continue
		}
		others := []string{key, fold.String(s), norm.NFD.String(s), norm.NFKC.String(s), "a" + string(unicode.SimpleFold(r)) + "b"}
		for _, other := range others {
			if other == s {
				continue
			}
			if again, err := names.KindName.Key(other); again != key || err != nil {
				t.Errorf("%U: Name(%+q) = %+q, %v; want %+q", r, other, again, err, key)
			}
		}
	}
}

func TestNameKind(t *testing.T) {
	for kind, want := range map[names.Kind]string{"name": "home@2x.png", "filename": "home"} {
		if key, err := kind.Key("Home@2x.PNG"); key != want || err != nil || !kind.Valid() {
			t.Errorf("%s: %q, %v", kind, key, err)
		}
	}
	for _, kind := range []names.Kind{"", "Name", "title"} {
		if _, err := kind.Key("a"); err == nil || kind.Valid() {
			t.Errorf("kind %q is valid", kind)
		}
		if _, err := kind.Parse("a"); err == nil || !strings.Contains(err.Error(), `use "name" or "filename"`) {
			t.Errorf("kind %q: %v", kind, err)
		}
	}
}

func TestNameKeepsNoHugeInput(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	_, err := names.KindName.Key(huge)
	if !errors.Is(err, names.ErrTooLong) || len(err.Error()) > 300 {
		t.Errorf("error of %d bytes: %.100v", len(err.Error()), err)
	}
}

func TestNameThatIsItsKeyAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		if _, err := names.KindName.Key("email campaign 2024"); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkName(b *testing.B) {
	for _, s := range []struct{ what, in string }{
		{"its own key", "email campaign 2024"},
		{"ASCII", "Email Campaign 2024"},
		{"Latin", "Straße nach Übersee"},
		{"Hangul", "이메일 캠페인 목록"},
		{"200 characters", strings.Repeat("Große Ü", 28)},
	} {
		b.Run(s.what, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := names.KindName.Key(s.in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
