package output

import (
	"strings"
	"unicode"
)

// OneLine makes text fit for a line of a terminal or a log: no line breaks, no control characters.
func OneLine(text string) string {
	var b strings.Builder
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, line := range lines {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(strings.TrimSpace(line))
	}
	return Printable(b.String())
}

// Printable replaces what a terminal would obey or what would reorder the line.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Bidi_Control, r) && !unicode.Is(unicode.Zs, r):
			return r
		case unicode.Is(unicode.Zs, r):
			return ' '
		}
		return '\uFFFD'
	}, text)
}
