package names_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/onerow/onerow/names"
)

// hard are the seeds of all fuzzers; more are in testdata/fuzz.
var hard = []string{
	"", " ", "Email Campaign", "x (Copy 1)", "x (copy 999999)", "(Copy 1)", "home@2x.png", "home@1.5x", ".gitignore", "..", "@2x.png",
	"a\x00b", "a\xffb", "¨", "a ¨", "ᾳ\u0327", "ß", "ẞ", "İ", "ı", "Σς", "ﷺ", "\u1112\u1161\u11ab", "J\u030c", "\u0345\u0301", "👩‍👩‍👧",
	"\u200b (Copy 1)", "v⒈png", "home…png", "Home＠2x．ＰＮＧ", "a.ß", "℀", "\u2028",
	strings.Repeat("ß", 127) + "x", strings.Repeat("e\u0301", 100), strings.Repeat("A", 200), "x" + strings.Repeat("\u0323", 199),
	strings.Repeat("\u200b", 199) + "a", "A" + strings.Repeat(" ", 198) + "B", strings.Repeat("ﷺ", 14), strings.Repeat("A", 174) + "@999.999x.abcdefghijklmnop",
}

// checkKey holds what is true for every key of every kind.
func checkKey(t *testing.T, in, key string, err error) {
	t.Helper()
	if err != nil {
		var detail *names.Error
		if key != "" || !errors.As(err, &detail) ||
			!errors.Is(err, names.ErrInvalid) && !errors.Is(err, names.ErrEmpty) && !errors.Is(err, names.ErrTooLong) {
			t.Fatalf("%+q: key %+q with error %v", in, key, err)
		}
		return
	}
	n := utf8.RuneCountInString(key)
	switch {
	case !utf8.ValidString(in) || !utf8.ValidString(key):
		t.Fatalf("%+q: key %+q is not UTF-8", in, key)
	case n == 0 || n > names.MaxKeyLength:
		t.Fatalf("%+q: key of %d characters", in, n)
	case !norm.NFKC.IsNormalString(key):
		t.Fatalf("%+q: key %+q is not NFKC", in, key)
	case strings.Join(strings.Fields(key), " ") != key || strings.ContainsFunc(key, unicode.IsControl):
		t.Fatalf("%+q: key %+q has white space or controls", in, key)
	}
	if again, err := names.KindName.Key(key); n <= names.MaxLength && (err != nil || again != key) {
		t.Fatalf("%+q: Name(%+q) = %+q, %v", in, key, again, err)
	}
}

func FuzzName(f *testing.F) {
	for _, s := range hard {
		f.Add(s)
	}
	f.Fuzz(checkName)
}

func checkName(t *testing.T, s string) {
	key, err := names.KindName.Key(s)
	checkKey(t, s, key, err)
	if err != nil {
		return
	}
	// Other spellings of the same text have the same key, unless they are too long to be a name.
	for _, other := range []string{norm.NFC.String(s), norm.NFD.String(s), norm.NFKC.String(s), norm.NFKD.String(s), "\n " + s + "\u3000"} {
		if k, err := names.KindName.Key(other); k != key && !errors.Is(err, names.ErrTooLong) {
			t.Fatalf("Name(%+q) = %+q, but Name(%+q) = %+q, %v", s, key, other, k, err)
		}
	}
}

func FuzzFilenameBase(f *testing.F) {
	for _, s := range hard {
		f.Add(s)
	}
	f.Fuzz(checkFilename)
}

func checkFilename(t *testing.T, s string) {
	base, err := names.KindFilename.Key(s)
	checkKey(t, s, base, err)
	full, nameErr := names.KindName.Key(s)
	if err != nil {
		return
	}
	if nameErr == nil && !strings.HasPrefix(full, base) {
		t.Fatalf("%+q: base %+q does not begin %+q", s, base, full)
	}
	if strings.ContainsAny(base, `/\`) || strings.Trim(base, ".") == "" {
		t.Fatalf("%+q: base %+q", s, base)
	}
	if nameErr != nil || base != full || strings.Contains(full, "@") {
		return
	}
	// Nothing was cut, so any density and extension may be added.
	for _, suffix := range []string{"@2x.png", "@1.5x", "@3X.7Z"} {
		if strings.HasSuffix(base, ".") || utf8.RuneCountInString(strings.TrimSpace(s))+len(suffix) > names.MaxLength {
			continue
		}
		if b, err := names.KindFilename.Key(strings.TrimSpace(s) + suffix); err != nil || b != base {
			t.Fatalf("FilenameBase(%+q + %q) = %+q, %v; want %+q", s, suffix, b, err, base)
		}
	}
}

func FuzzCopies(f *testing.F) {
	for i, s := range hard {
		f.Add(s, i+1, names.MaxCopy-i)
	}
	f.Fuzz(checkParse)
}

func checkParse(t *testing.T, s string, a, b int) {
	a, b = inRange(a), inRange(b)
	for _, kind := range []names.Kind{names.KindName, names.KindFilename} {
		p, err := kind.Parse(s)
		key, keyErr := kind.Key(s)
		if (err == nil) != (keyErr == nil) || p.Key != key {
			t.Fatalf("%s %+q: Parse says %+q, %v and Key says %+q, %v", kind, s, p.Key, err, key, keyErr)
		}
		if err != nil {
			continue
		}
		checkKey(t, s, p.Key, nil)
		checkCopies(t, p, a, b)
		// Another spelling of the same key stores the same stem and number.
		if q, err := kind.Parse(norm.NFKC.String(s)); err == nil &&
			(q.Key != p.Key || q.StemKey != p.StemKey || q.Copy != p.Copy) {
			t.Fatalf("%s %+q: %+v, and in NFKC %+v", kind, s, p, q)
		}
		// Text with a strict token keeps its stem.
		if c, err := p.WithCopy(a); err == nil {
			if again, err := c.WithCopy(b); err != nil || again.StemKey != c.StemKey {
				t.Fatalf("%s %+q: stem %+q, of copies %+q, %v", kind, c.Display, c.StemKey, again.StemKey, err)
			}
		}
	}
}

func inRange(n int) int { return int(uint(n)%names.MaxCopy) + 1 }

// pieces are what hard names are made of. Changing bytes at random hardly ever meets them, so a fuzzer
// strings them together.
var pieces = []string{
	"a", "B", "é", "e\u0301", "E\u0301", "ß", "ẞ", "İ", "ı", "Σ", "ς", "ﷺ", "ﬁ", "ﬂ", "½", "①", "⒈", "…", "‥", "．", "＠", "／", "K", "ſ", "J\u030c", "ŉ",
	"\u0301", "\u0315", "\u0323", "\u0327", "\u0345", "\u034f", "\u0338", "\u3099", "\u093c", "\u0f71", "\u0f73", "\u0f75", "ᾳ", "ᾼ", "ΐ", "¨", "΄",
	"\u1100", "\u1161", "\u11a8", "가", "각", "ｶ", "ﾞ", "\u3164", "Ꭰ", "ꭰ", "👩", "\u200d", "\u200b", "\ufe0f", "🏽", "😀", "א", "\u202e", "\u0600",
	" ", "  ", "\t", "\u00a0", "\u2003", "\u3000", ".", "..", "@", "@2x", "@1.5X", "@0x", ".png", ".PNG", ".7z", ".tar.gz", ".abcdefghijklmnop", "x", "2", "png",
	" (Copy 1)", " (copy 1)", " (Copy 999999)", " (Copy 0)", "(Copy 2)", " （Copy ２）", " (Copy ", ")", "\u0600", "\u2028", "\x00", "\xff", "Ω", "𝓗", "𐐀", "㌀", "ẖ",
}

// assemble turns bytes into a name: a byte below 160 is a piece, any other repeats the last piece up to 190
// times.
func assemble(program []byte) string {
	var b strings.Builder
	last := ""
	for _, op := range program {
		switch {
		case op < 160:
			last = pieces[int(op)%len(pieces)]
			b.WriteString(last)
		default:
			b.WriteString(strings.Repeat(last, 2*int(op-160)))
		}
		if b.Len() > 4*names.MaxLength {
			break
		}
	}
	return b.String()
}

func checkAssembled(t *testing.T, program []byte) {
	s := assemble(program)
	checkName(t, s)
	checkFilename(t, s)
	checkParse(t, s, len(program)*7919, names.MaxCopy-1)
}

func FuzzPieces(f *testing.F) {
	f.Add([]byte{0, 250})
	f.Add([]byte{5, 223, 0, 74})
	f.Add([]byte{3, 205, 72, 74})
	f.Fuzz(checkAssembled)
}

// The same in every test run, with other names each time; a failure prints the seed and the name.
func TestRandomNames(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // test data
	for range 300 {
		program := make([]byte, 1+rnd.IntN(12))
		for i := range program {
			program[i] = byte(rnd.IntN(160))
			if i > 0 && rnd.IntN(4) == 0 {
				program[i] = byte(160 + rnd.IntN(96))
			}
		}
		if checkAssembled(t, program); t.Failed() {
			t.Fatalf("seed %d, program %v", seed, program)
		}
	}
}
