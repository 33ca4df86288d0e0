package names

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// MaxCopy is the highest number of a copy.
	MaxCopy = 999_999
	// MaxStemLength is the longest stem key: what a name's column leaves beside the longest token. Stems of
	// file names are shorter still, by the longest density and extension.
	MaxStemLength = MaxLength - len(" (Copy 999999)")

	maxFileStem = MaxStemLength - maxSuffix
	copyOpen    = " (Copy " // as written; the token is copyOpen, the number, copyClose
	copyOpenKey = " (copy " // as it stands in a key
	copyClose   = ")"
)

// Parsed is a checked name, ready to be stored. Make one with Kind.Parse.
//
// Names with equal Key have equal StemKey and Copy, however they were typed: the three are computed from the
// key alone.
type Parsed struct {
	Display string // what is stored and shown: as typed, without white space at the ends; at most MaxLength characters
	Key     string // the name key, for the unique index; at most MaxKeyLength characters
	StemKey string // the key without copy token, cut so that the original and all its copies share it; at most MaxStemLength characters
	Copy    int    // the number in the copy token, 1 to MaxCopy; 0 without one

	kind Kind
}

// Parse checks a name and computes all that is stored with it. The errors are those of the kind;
// an unknown kind is an error too.
//
// A copy token is " (Copy N)" with 1 ≤ N ≤ MaxCopy, no leading zero, behind a stem that is not empty; in a
// file name it stands before density and extension. Anything else is plain text. As for keys, case, width and
// the amount of white space do not matter: "x (copy 1)" has the key of "x (Copy 1)", so it has its stem and
// number, too.
func (k Kind) Parse(s string) (Parsed, error) {
	c, err := k.clean(s)
	if err != nil {
		return Parsed{}, err
	}
	stem, n := cutToken(c.key, copyOpenKey)
	return Parsed{Display: c.display, Key: c.key, StemKey: k.cutStem(stem), Copy: n, kind: k}, nil
}

// WithCopy returns the name of copy n of the same stem: "Email Campaign" and "Email Campaign (Copy 7)" both
// give "Email Campaign (Copy 1)" for 1, and "home@2x.png" gives "home (Copy 1)@2x.png". It succeeds for every
// parsed name and every n from 1 to MaxCopy; any other n is ErrTooManyCopies. The result is a valid name
// whose Copy is n. Its StemKey is the same for every n: the one to look up the highest copy number under.
// That is the StemKey of p, unless p has a token that is not exactly as WithCopy writes it ("x (copy 1)").
//
// What is replaced is only a token exactly as WithCopy writes it: the user who typed "x (copy 1)" sees "x
// (copy 1) (Copy 1)". A long stem is cut at its end, never through a code point; where it is folded longer
// ("ß"), or has more characters than its key, the last ones may be written as in the key.
func (p Parsed) WithCopy(n int) (Parsed, error) {
	if n < 1 || n > MaxCopy {
		return Parsed{}, fmt.Errorf("%w: name %q cannot have copy number %d: only 1 to %d exist; rename it or delete copies", ErrTooManyCopies, shorten(p.Display), n, MaxCopy)
	}
	display, key, suffix, err := p.copyStem()
	if err != nil {
		return Parsed{}, err
	}
	return p.kind.Parse(fitStem(display, key, p.kind.maxStem()) + copyOpen + strconv.Itoa(n) + copyClose + suffix)
}

// copyStem returns the stem as displayed (not cut), the stem key of all copies (cut), and the suffix as
// displayed.
func (p Parsed) copyStem() (display, key, suffix string, err error) {
	c, err := p.kind.clean(p.Display)
	if err != nil {
		return "", "", "", err
	}
	display, key = c.display, c.key
	if p.kind == KindFilename {
		display, suffix = splitDisplay(c)
	}
	if stem, n := cutToken(display, copyOpen); n > 0 {
		display = stem
		key, _ = cutToken(key, copyOpenKey)
	}
	return display, p.kind.cutStem(key), suffix, nil
}

// cutToken cuts the copy token, with this spelling of its beginning, from the end of s. Without one it
// returns s and 0. As s is trimmed, a stem that is there is not empty.
func cutToken(s, open string) (stem string, n int) {
	at := strings.LastIndex(s, open)
	number, closed := strings.CutSuffix(s, copyClose)
	if at <= 0 || !closed || at+len(open) > len(number) {
		return s, 0
	}
	number = number[at+len(open):]
	// Writing the number again tells signs and leading zeros.
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > MaxCopy || strconv.Itoa(n) != number {
		return s, 0
	}
	return s[:at], n
}

// maxStem is the longest stem, of the key and of the display text alike.
func (k Kind) maxStem() int {
	if k == KindFilename {
		return maxFileStem
	}
	return MaxStemLength
}

// cutStem cuts a stem in normal form to its length. The cut is made on the key and not on the display text,
// because names with one key must have one stem. The start of a text in normal form is in normal form.
func (k Kind) cutStem(stem string) string {
	if len(stem) <= k.maxStem() {
		return stem
	}
	runes := []rune(stem)
	return strings.TrimRight(string(runes[:min(len(runes), k.maxStem())]), " ")
}

// fitStem returns a display text of at most limit characters whose normal form is want: as much of text as
// possible, from its start, and the rest as in want. That rest is there only if text has more characters than
// want ("e" and an accent for "é") or want ends inside a character of text (the first "s" of "ß"). As want is
// at most limit characters and its own normal form, there always is a result.
func fitStem(text, want string, limit int) string {
	for text = strings.TrimSpace(text); text != ""; {
		drop := 1
		key, _ := normalize(text)
		if rest, ok := strings.CutPrefix(want, key); ok {
			whole := text + rest
			if excess := utf8.RuneCountInString(whole) - limit; excess > 0 {
				drop = excess // a character less of text makes whole at most one shorter
			} else if got, _ := normalize(whole); got == want {
				return whole
			}
		}
		text = strings.TrimSpace(dropRunes(text, drop))
	}
	return want
}

func dropRunes(s string, n int) string {
	for ; n > 0 && s != ""; n-- {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

func nfkc(s string) string { return norm.NFKC.String(s) }
