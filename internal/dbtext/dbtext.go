// Package dbtext stores texts of persons and servers in columns of utf8mb4 on every connection. One with
// charset=utf8, latin1 or gbk takes the bytes of an argument for its own character set: it refuses an emoji,
// or stores something else. So they travel as hexadecimal digits; read the column with CAST(… AS BINARY).
//
// Open this package when a text of a person or a server is stored in a new column.
package dbtext

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"os"
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

// Process names this process among those of all machines.
func Process() string {
	host, _ := os.Hostname() //nolint:errcheck // the next line says so
	return fmt.Sprintf("%s:%d", cmp.Or(host, "unknown host"), os.Getpid())
}
