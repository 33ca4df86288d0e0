package output

import (
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONWriter passes JSON on with each character escaped that a terminal would obey, or
// that would reorder its line: Go leaves those above ASCII as they are. They can only be
// within strings, where the escape means the same. A write is whole characters.
type JSONWriter struct{ Out io.Writer }

// Write writes all of text, or fails.
func (w JSONWriter) Write(text []byte) (int, error) {
	safe := make([]byte, 0, len(text))
	for rest := text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r != 0x7f && r < utf8.RuneSelf, unicode.IsGraphic(r) && !unicode.Is(unicode.Bidi_Control, r):
			safe = append(safe, rest[:size]...)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				safe = fmt.Appendf(safe, `\u%04x`, unit)
			}
		}
		rest = rest[size:]
	}
	if _, err := w.Out.Write(safe); err != nil {
		return 0, err
	}
	return len(text), nil
}
