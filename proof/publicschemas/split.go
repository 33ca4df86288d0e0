package main

import (
	"regexp"
	"strings"
)

// split cuts a script as a client of MySQL does: at each delimiter that stands outside of quotes and
// comments, and DELIMITER on a line of its own names another one. Comments are left out, but for those that
// the server reads (/*! and /*M!).
func split(script string) []string {
	var all []string
	var b strings.Builder
	delimiter := ";"
	flush := func() {
		if s := strings.TrimSpace(b.String()); s != "" {
			all = append(all, s)
		}
		b.Reset()
	}
	for i, lineBegins := 0, true; i < len(script); {
		rest := script[i:]
		if m := delimiterLine.FindStringSubmatch(rest); lineBegins && m != nil && strings.TrimSpace(b.String()) == "" {
			delimiter, i = m[1], i+len(m[0])
			continue
		}
		n, comment := token(rest)
		switch {
		case strings.HasPrefix(rest, delimiter):
			flush()
			n = len(delimiter)
		case comment:
			b.WriteByte(' ')
		default:
			b.WriteString(rest[:n])
		}
		lineBegins = rest[n-1] == '\n' || lineBegins && strings.TrimSpace(rest[:n]) == ""
		i += n
	}
	flush()
	return all
}

var delimiterLine = regexp.MustCompile(`^(?i:delimiter)[ \t]+(\S+)[^\n]*`)

// token is the length of what begins a text and is not cut: something in quotes, a comment, or one byte.
func token(s string) (n int, comment bool) {
	upTo := func(end string) int {
		if at := strings.Index(s[2:], end); at >= 0 {
			return 2 + at + len(end)
		}
		return len(s)
	}
	switch {
	case s[0] == '\'' || s[0] == '"' || s[0] == '`':
		for i := 1; i < len(s); i++ {
			if s[i] == '\\' && s[0] != '`' {
				i++
			} else if s[i] == s[0] { // twice is once more in quotes: the next token
				return i + 1, false
			}
		}
		return len(s), false
	case s[0] == '#', s == "--", strings.HasPrefix(s, "--") && strings.ContainsRune(" \t\r\n", rune(s[2])):
		if at := strings.IndexByte(s, '\n'); at >= 0 {
			return at + 1, true
		}
		return len(s), true
	case strings.HasPrefix(s, "/*"):
		return upTo("*/"), !strings.HasPrefix(s, "/*!") && !strings.HasPrefix(s, "/*M!")
	}
	return 1, false
}

// definition is what is run of a script: tables, and what they are defined with.
var definition = regexp.MustCompile(`^(?i:SET|CREATE\s+(OR\s+REPLACE\s+)?TABLE|CREATE\s+(UNIQUE\s+)?INDEX|ALTER\s+TABLE|DROP\s+(TABLE|INDEX)|RENAME\s+TABLE)\b`)

// leftOut are the kinds of statements that are not run: triggers and routines, which write what no foreign
// key says, and the rows that a script brings. What else there is, is of no effect on tables.
var leftOut = regexp.MustCompile(`^(?is)CREATE\s+(?:OR\s+REPLACE\s+)?(?:DEFINER\s*=\s*\S+\s+)?(TRIGGER|PROCEDURE|FUNCTION|VIEW)|(INSERT|UPDATE|DELETE|REPLACE)\b`)

// definitions are the statements that define tables, and how many there are of each kind that is left out.
func definitions(script string) (run []string, out map[string]int) {
	out = map[string]int{}
	for _, s := range split(script) {
		if definition.MatchString(s) {
			run = append(run, s)
		} else if m := leftOut.FindStringSubmatch(s); m != nil && strings.HasPrefix(s, m[0]) {
			out[strings.ToLower(m[1]+m[2])]++
		}
	}
	return run, out
}
