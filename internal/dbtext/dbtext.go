// Package dbtext stores texts that others wrote, an error's or a person's, so that they fit their column of
// utf8mb4 on every connection. A connection with charset=utf8, latin1 or gbk takes the bytes of an argument
// for its own character set: it refuses an emoji, or stores something else. So the bytes travel as
// hexadecimal digits, and come back as bytes: read such a column with CAST(column AS BINARY).
//
// Open this package when a text of a person or a server is stored in a new column.
package dbtext

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Param stands where the ? of a text would; its argument is [Arg].
const Param = "CONVERT(UNHEX(?) USING utf8mb4)"

// Arg is the argument of [Param]. s should be valid UTF-8, see [Fit].
func Arg(s string) string { return hex.EncodeToString([]byte(s)) }

// Fit returns s as valid UTF-8 of at most n bytes. A text that is cut says so at its end, if n leaves room
// for that.
func Fit(s string, n int) string {
	whole := len(s)
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	mark := fmt.Sprintf("… (cut, it had %d bytes)", whole)
	if len(mark) > n/2 {
		mark = ""
	}
	return strings.ToValidUTF8(s[:n-len(mark)], "") + mark // half a character at the end is left out
}
