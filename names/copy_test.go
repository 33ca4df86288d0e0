package names_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/onerow/onerow/names"
)

func ExampleParsed_WithCopy() {
	campaign, err := names.KindName.Parse("Email Campaign (Copy 7)")
	if err != nil {
		fmt.Println(err)
		return
	}
	home, err := names.KindFilename.Parse("Home@2x.PNG")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range []names.Parsed{campaign, home} {
		p, err := p.WithCopy(8)
		fmt.Printf("%q %q %q %d %v\n", p.Display, p.Key, p.StemKey, p.Copy, err)
	}
	// Output:
	// "Email Campaign (Copy 8)" "email campaign (copy 8)" "email campaign" 8 <nil>
	// "Home (Copy 8)@2x.PNG" "home (copy 8)" "home" 8 <nil>
}

const (
	title = names.KindName
	file  = names.KindFilename
)

func TestParseAndCopy(t *testing.T) {
	long := func(s string, n int) string { return strings.Repeat(s, n) }
	tests := []struct {
		what   string
		kind   names.Kind
		in     string
		stem   string // StemKey
		number int    // Copy
		copy3  string // Display of WithCopy(3)
	}{
		{"original", title, "Email Campaign", "email campaign", 0, "Email Campaign (Copy 3)"},
		{"copy", title, "Email Campaign (Copy 12)", "email campaign", 12, "Email Campaign (Copy 3)"},
		{"copy 999999", title, "x (Copy 999999)", "x", 999999, "x (Copy 3)"},
		{"copy 1000000 is text", title, "x (Copy 1000000)", "x (copy 1000000)", 0, "x (Copy 1000000) (Copy 3)"},
		{"huge number is text", title, "x (Copy 99999999999999999999)", "x (copy 99999999999999999999)", 0, "x (Copy 99999999999999999999) (Copy 3)"},
		{"copy 0 is text", title, "x (Copy 0)", "x (copy 0)", 0, "x (Copy 0) (Copy 3)"},
		{"leading zero is text", title, "x (Copy 01)", "x (copy 01)", 0, "x (Copy 01) (Copy 3)"},
		{"sign is text", title, "x (Copy +1)", "x (copy +1)", 0, "x (Copy +1) (Copy 3)"},
		{"no number is text", title, "x (Copy )", "x (copy )", 0, "x (Copy ) (Copy 3)"},
		{"plain copy is text", title, "x (Copy)", "x (copy)", 0, "x (Copy) (Copy 3)"},
		{"no space is text", title, "x(Copy 1)", "x(copy 1)", 0, "x(Copy 1) (Copy 3)"},
		{"text behind it", title, "x (Copy 1) y", "x (copy 1) y", 0, "x (Copy 1) y (Copy 3)"},
		{"empty stem", title, " (Copy 1)", "(copy 1)", 0, "(Copy 1) (Copy 3)"},
		{"copy of an empty stem", title, "(Copy 1) (Copy 2)", "(copy 1)", 2, "(Copy 1) (Copy 3)"},
		{"copy of a copy", title, "x (Copy 1) (Copy 2)", "x (copy 1)", 2, "x (Copy 1) (Copy 3)"},
		{"only the beginning of a token", title, "x (Copy ", "x (copy", 0, "x (Copy (Copy 3)"},
		{"closed in the wrong place", title, "x) (Copy", "x) (copy", 0, "x) (Copy (Copy 3)"},
		{"bracket after space", title, "x (Copy 1 )", "x (copy 1 )", 0, "x (Copy 1 ) (Copy 3)"},
		{"invisible stem", title, "\u200b (Copy 1)", "\u200b", 1, "\u200b (Copy 3)"},
		{"more space before", title, "x   (Copy 1)", "x", 1, "x (Copy 3)"},
		{"emoji", title, "👩‍👩‍👧 (Copy 1)", "👩‍👩‍👧", 1, "👩‍👩‍👧 (Copy 3)"},
		{"right to left", title, "שלום", "שלום", 0, "שלום (Copy 3)"},

		// The key has a token, what the user sees has not: the number belongs to the key, and the text stays.
		{"lower case", title, "x (copy 1)", "x", 1, "x (copy 1) (Copy 3)"},
		{"two spaces inside", title, "x (Copy  1)", "x", 1, "x (Copy  1) (Copy 3)"},
		{"no-break space", title, "x\u00a0(Copy 1)", "x", 1, "x\u00a0(Copy 1) (Copy 3)"},
		{"full width", title, "x （Copy １）", "x", 1, "x （Copy １） (Copy 3)"},
		{"lower case behind strict", title, "x (Copy 2) (copy 1)", "x (copy 2)", 1, "x (Copy 2) (copy 1) (Copy 3)"},

		{"file", file, "home.png", "home", 0, "home (Copy 3).png"},
		{"file with density", file, "Home@2x.PNG", "home", 0, "Home (Copy 3)@2x.PNG"},
		{"copied file", file, "home (Copy 1)@2x.png", "home", 1, "home (Copy 3)@2x.png"},
		{"density only", file, "home@1.5x", "home", 0, "home (Copy 3)@1.5x"},
		{"no suffix", file, "Makefile", "makefile", 0, "Makefile (Copy 3)"},
		{"dotfile", file, ".gitignore", ".gitignore", 0, ".gitignore (Copy 3)"},
		{"copied dotfile", file, ".gitignore (Copy 1)", ".gitignore", 1, ".gitignore (Copy 3)"},
		{"empty base", file, "@2x.png", "@2x", 0, "@2x (Copy 3).png"},
		{"two extensions", file, "a.tar.gz", "a.tar", 0, "a.tar (Copy 3).gz"},
		{"dot at the end", file, "home.", "home.", 0, "home. (Copy 3)"},
		{"space before extension", file, "home .png", "home", 0, "home (Copy 3).png"},
		{"space before token's suffix", file, "home (Copy 1) .png", "home", 1, "home (Copy 3).png"},
		{"token behind the extension", file, "home.png (Copy 1)", "home.png", 1, "home.png (Copy 3)"},
		{"token behind the density", file, "home@2x (Copy 1).png", "home@2x", 1, "home@2x (Copy 3).png"},
		{"token is all", file, "(Copy 1).png", "(copy 1)", 0, "(Copy 1) (Copy 3).png"},
		{"dots before the token", file, ".. (Copy 1).png", "..", 1, ".. (Copy 3).png"},
		{"browser's copy is text", file, "home (1).png", "home (1)", 0, "home (1) (Copy 3).png"},
		{"lower-case token", file, "home (copy 1).png", "home", 1, "home (copy 1) (Copy 3).png"},
		{"full-width suffix stays", file, "Home＠2x．ＰＮＧ", "home", 0, "Home (Copy 3)＠2x．ＰＮＧ"},
		{"sharp s as extension", file, "Home.ß", "home", 0, "Home (Copy 3).ß"},
		{"character across base and suffix", file, "V⒈PNG", "v1", 0, "V1 (Copy 3).PNG"},
		{"ellipsis across base and suffix", file, "Home…png", "home..", 0, "Home.. (Copy 3).png"},

		// Long stems: 186 characters for titles, 160 for files; originals are cut, too.
		{"186", title, long("A", 186), long("a", 186), 0, long("A", 186) + " (Copy 3)"},
		{"187", title, long("A", 187), long("a", 186), 0, long("A", 186) + " (Copy 3)"},
		{"200", title, long("A", 200), long("a", 186), 0, long("A", 186) + " (Copy 3)"},
		{"200 of 4 bytes", title, long("😀", 200), long("😀", 186), 0, long("😀", 186) + " (Copy 3)"},
		{"space at the cut", title, long("A", 185) + " " + long("B", 14), long("a", 185), 0, long("A", 185) + " (Copy 3)"},
		{"mark at the cut", title, long("a", 185) + "x\u0323\u0330\u0331", long("a", 185) + "x", 0, long("a", 185) + "x (Copy 3)"},
		{"nothing but marks", title, "x" + long("\u0323\u0315", 99), "", 0, ""},
		{"family at the cut", title, long("a", 184) + "👩\u200d👩\u200d👧", long("a", 184) + "👩\u200d", 0, long("a", 184) + "👩\u200d (Copy 3)"},
		{"decomposed", title, long("E\u0301", 100), long("é", 100), 0, long("E\u0301", 86) + long("é", 14) + " (Copy 3)"},
		{"folds longer, cut between", title, long("ß", 127), long("ss", 93), 0, long("ß", 93) + " (Copy 3)"},
		{"folds longer, cut inside", title, "X" + long("ß", 127), "x" + long("ss", 92) + "s", 0, "X" + long("ß", 92) + "s (Copy 3)"},
		{"much white space", title, "A" + long(" ", 198) + "B", "a b", 0, "A b (Copy 3)"},
		{"composes only in lower case", title, long("J\u030c", 100), long("ǰ", 100), 0, long("J\u030c", 86) + long("ǰ", 14) + " (Copy 3)"},
		{"file of 200", file, long("A", 196) + ".png", long("a", 160), 0, long("A", 160) + " (Copy 3).png"},
		{"file with longest suffix", file, long("A", 174) + "@999.999x.abcdefghijklmnop", long("a", 160), 0,
			long("A", 160) + " (Copy 3)@999.999x.abcdefghijklmnop"},
	}
	for _, tt := range tests {
		t.Run(string(tt.kind)+" "+tt.what, func(t *testing.T) {
			p, err := tt.kind.Parse(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			checkCopies(t, p, 3, names.MaxCopy)
			if tt.copy3 == "" { // only the rules that hold for every name
				return
			}
			if p.StemKey != tt.stem || p.Copy != tt.number {
				t.Errorf("Parse(%q): stem %q, copy %d; want %q, %d", tt.in, p.StemKey, p.Copy, tt.stem, tt.number)
			}
			if c, err := p.WithCopy(3); err != nil || c.Display != tt.copy3 {
				t.Errorf("WithCopy(3) = %q, %v; want %q", c.Display, err, tt.copy3)
			}
		})
	}
}

// checkCopies holds the rules that are true for every parsed name and all copy numbers a and b.
func checkCopies(t *testing.T, p names.Parsed, a, b int) {
	t.Helper()
	first, err := p.WithCopy(1)
	if err != nil {
		t.Fatalf("%+q.WithCopy(1): %v", p.Display, err)
	}
	stem := first.StemKey
	if utf8.RuneCountInString(p.StemKey) > names.MaxStemLength || p.StemKey == "" {
		t.Errorf("%+q: stem key %+q", p.Display, p.StemKey)
	}
	var suffixes []string
	for _, n := range []int{a, b} {
		c, err := p.WithCopy(n)
		if err != nil {
			t.Fatalf("%+q.WithCopy(%d): %v", p.Display, n, err)
		}
		if c.Copy != n || c.StemKey != stem {
			t.Errorf("%+q.WithCopy(%d) = %+q: copy %d, stem %+q; want stem %+q", p.Display, n, c.Display, c.Copy, c.StemKey, stem)
		}
		if utf8.RuneCountInString(c.Display) > names.MaxLength || utf8.RuneCountInString(c.Key) > names.MaxKeyLength {
			t.Errorf("%+q.WithCopy(%d) = %+q is too long", p.Display, n, c.Display)
		}
		token := fmt.Sprintf(" (Copy %d)", n)
		head, suffix, ok := strings.Cut(c.Display[strings.LastIndex(c.Display, " (Copy "):], token)
		if !ok || head != "" {
			t.Errorf("%+q.WithCopy(%d) = %+q has no token", p.Display, n, c.Display)
		}
		suffixes = append(suffixes, suffix)
		// A copy of the copy is what the original's copy is.
		if cc, err := c.WithCopy(a); err != nil || cc.StemKey != stem || cc.Copy != a {
			t.Errorf("%+q.WithCopy(%d).WithCopy(%d) = %+q, %v", p.Display, n, a, cc.Display, err)
		} else if first, err := p.WithCopy(a); err != nil || first != cc {
			t.Errorf("%+q: copy %d of copy %d is %+q, of the original %+q", p.Display, a, n, cc.Display, first.Display)
		}
	}
	if suffixes[0] != suffixes[1] {
		t.Errorf("%+q: suffixes %q", p.Display, suffixes)
	}
	// The stems of a name and of its copies differ only where the key has a token that the display text has not.
	if p.StemKey != stem && p.Copy == 0 {
		t.Errorf("%+q: stem %+q, stem of copies %+q", p.Display, p.StemKey, stem)
	}
}

// Whatever is typed for one key, the stored stem and number are the same.
func TestEqualKeysHaveEqualStems(t *testing.T) {
	for _, group := range [][]string{
		{"x (Copy 1)", "X (copy 1)", "x\u00a0\u00a0(COPY １)", "ｘ （Copy ①）"},
		{strings.Repeat("ß", 120) + " (Copy 1)", strings.Repeat("ẞ", 120) + " (copy 1)"},
		{"e\u0301" + strings.Repeat("a", 190), "É" + strings.Repeat("A", 190)},
	} {
		first, err := names.KindName.Parse(group[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range group[1:] {
			p, err := names.KindName.Parse(s)
			if err != nil || p.Key != first.Key || p.StemKey != first.StemKey || p.Copy != first.Copy {
				t.Errorf("Parse(%q) = %q, %q, %d, %v; want %q, %q, %d", s, p.Key, p.StemKey, p.Copy, err, first.Key, first.StemKey, first.Copy)
			}
		}
	}
}

func TestCopyNumberOutOfRange(t *testing.T) {
	p, err := names.KindName.Parse("x")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{-1, 0, names.MaxCopy + 1} {
		_, err := p.WithCopy(n)
		if !errors.Is(err, names.ErrTooManyCopies) {
			t.Errorf("WithCopy(%d): %v", n, err)
		}
		if want := fmt.Sprintf(`names: too many copies: name "x" cannot have copy number %d: only 1 to 999999 exist`, n); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("message %v, want %s", err, want)
		}
	}
	if _, err := (names.Parsed{Display: "x"}).WithCopy(1); err == nil {
		t.Error("a name that nobody parsed has a copy")
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := names.KindName.Parse("Email Campaign (Copy 7)"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWithCopy(b *testing.B) {
	for _, s := range []struct {
		what, in string
		kind     names.Kind
	}{
		{"title", "Email Campaign", title},
		{"file", "Home@2x.PNG", file},
		{"long, folds longer", "X" + strings.Repeat("ß", 127), title},
		{"long, decomposed", strings.Repeat("e\u0301", 98) + ".png", file},
	} {
		b.Run(s.what, func(b *testing.B) {
			p, err := s.kind.Parse(s.in)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.WithCopy(7); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
