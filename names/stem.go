package names

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

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

// dropRunes cuts the last n characters.
func dropRunes(s string, n int) string {
	for ; n > 0 && s != ""; n-- {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

func nfkc(s string) string { return norm.NFKC.String(s) }
