// Package ident checks and quotes SQL identifiers, names what the toolkit adds to a resource, and has a
// statement run in UTC. Identifiers come from declarations and plan files and cannot be bound as parameters.
//
// Open this package when a name gets into a statement.
package ident

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Err means: a text cannot be an identifier.
var Err = errors.New("not an SQL identifier")

// maxLen is the longest name of a table or column, in characters.
const maxLen = 64

// Check returns an error unless name can be quoted as an identifier that both
// engines accept: 1 to 64 characters of the Basic Multilingual Plane, no NUL, no
// control character, no backtick, no trailing space. Bidirectional controls are refused
// as well: a name with one is read as another one in a plan, a log or a terminal.
func Check(name string) error {
	switch n := utf8.RuneCountInString(name); {
	case name == "":
		return fmt.Errorf("%w: it is empty", Err)
	case n > maxLen:
		return fmt.Errorf("%w: it has %d characters, %d fit", Err, n, maxLen)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is not UTF-8", Err, name)
	case strings.HasSuffix(name, " "):
		return fmt.Errorf("%w: %q ends with a space", Err, name)
	}
	for _, r := range name {
		if r < ' ' || r == 0x7f || r == '`' || r > 0xffff || unicode.Is(unicode.Bidi_Control, r) {
			return fmt.Errorf("%w: %q contains %q", Err, name, r)
		}
	}
	return nil
}

// Quote returns name between backticks. It is safe for any text; whether the
// server accepts it is what [Check] says.
func Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Quotes quotes each name and joins them with commas.
func Quotes(names ...string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = Quote(name)
	}
	return strings.Join(quoted, ", ")
}

// Params returns n question marks, joined with commas.
func Params(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }
