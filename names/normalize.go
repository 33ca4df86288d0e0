package names

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxPasses bounds the search for the fixed point. Two passes find it for all text known, the last one only
// confirms; the rest is reserve.
const maxPasses = 8

// normalize returns the normal form of s: NFKC, case folded, white space trimmed and collapsed. Folding can
// undo NFKC (U+0345 turns from a mark into a letter), and NFKC can bring up what has to be folded or
// collapsed ("¨" is a space and a mark), so the steps are repeated until nothing changes; that makes
// normalize(normalize(s)) == normalize(s) true by construction. It reports false if it does not settle.
//
// The text is decomposed before it is folded (Unicode 3.13, D146): so "ᾳ" with a further mark meets its own
// upper case.
func normalize(s string) (key string, stable bool) {
	if key, ok := normalizeASCII(s); ok {
		return key, true
	}
	fold := cases.Fold()
	for range maxPasses {
		folded := strings.Map(upperCherokee, fold.String(norm.NFKD.String(s)))
		next := collapse(norm.NFKC.String(folded))
		if next == s {
			return s, true
		}
		s = next
	}
	return s, false
}

// upperCherokee finishes the folding of the one script that folds to upper case: cases.Fold swaps its cases
// back and forth (golang/go#46101).
func upperCherokee(r rune) rune {
	if r >= 0x13A0 && unicode.Is(unicode.Cherokee, r) {
		return unicode.ToUpper(r)
	}
	return r
}

// normalizeASCII is normalize for plain ASCII, which NFKC leaves alone. A name that is its own key is
// returned without a copy.
func normalizeASCII(s string) (key string, ok bool) {
	same, space := true, true // space: nothing, or a space, stands before
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return "", false
		}
		if 'A' <= c && c <= 'Z' || c < ' ' || c == ' ' && space {
			same = false
		}
		space = c == ' '
	}
	if same && (s == "" || !space) {
		return s, true
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case unicode.IsSpace(rune(c)):
			if len(b) == 0 || b[len(b)-1] == ' ' {
				continue
			}
			c = ' '
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(bytes.TrimSuffix(b, []byte(" "))), true
}

// collapse trims white space and turns every run of it into one space.
func collapse(s string) string {
	if !strings.ContainsFunc(s, unicode.IsSpace) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}
