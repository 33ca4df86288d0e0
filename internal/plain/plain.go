package plain

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is what a text does to its transaction.
type Kind uint8

// The kinds of texts.
const (
	Unclear   Kind = iota // anything
	Read                  // writes nothing
	Write                 // INSERT, UPDATE, DELETE, REPLACE
	Other                 // leaves the transaction open, and may write
	Savepoint             // sets or releases one
	Undo                  // ROLLBACK TO a savepoint
	Ends                  // commits or rolls back, even if it then fails
)

// Of returns the kind of a text. One semicolon may end it.
func Of(text string) Kind {
	s := scanner{text: text}
	calls, words, ended := false, 0, false
	var head [4]string
	var before, earlier string
	var set []string // the tokens behind SET
	for t := s.next(); t != ""; t = s.next() {
		switch {
		case ended:
			return Unclear // several statements
		case t == ";":
			ended = true
		case t == "(":
			calls = calls || name(before) && (earlier == "." || !known(before, s.gap))
		case words < len(head):
			head[words] = t
			words++
			if inside := before == "("; inside && words == 1 && !is(t, "SELECT", "VALUES", "TABLE", "WITH") {
				return Unclear
			}
		}
		switch verb := head[0]; {
		case is(t, "NEXTVAL"), is(before, "NEXT") && is(t, "VALUE"), is(verb, "WITH") && is(t, "UPDATE", "DELETE", "INSERT", "REPLACE"):
			calls = true
		case is(verb, "SET") && t != ";":
			set = append(set, t)
		}
		earlier, before = before, t
	}
	switch {
	case s.bad:
		return Unclear
	case set != nil:
		return ofSet(set[1:])
	}
	kind := byHead(head)
	if kind == Read && calls {
		return Other
	}
	return kind
}

// ofSet returns the kind of assignments: @name = …, [@@] [SESSION .] name = …, with a comma between them.
// What else SET does, to roles or passwords, may commit.
func ofSet(tokens []string) Kind {
	for {
		marks := 0
		for len(tokens) > 2 && (is(tokens[0], "@", ".") || is(tokens[0], "SESSION", "LOCAL") && tokens[1] != "=") {
			if tokens[0] == "@" {
				marks++
			}
			tokens = tokens[1:]
		}
		switch {
		case len(tokens) < 3, !is(tokens[1], "=", ":"), !inWord(tokens[0][0]), is(tokens[0], "PASSWORD"):
			return Unclear
		case is(tokens[0], "AUTOCOMMIT") && marks != 1:
			return Ends
		}
		depth := 0
		next := slices.IndexFunc(tokens, func(t string) bool {
			depth += strings.Count(t, "(") - strings.Count(t, ")")
			return t == "," && depth == 0
		})
		if next < 0 {
			return Other
		}
		tokens = tokens[next+1:]
	}
}

// byHead returns the kind of a statement that begins with these words.
func byHead(head [4]string) Kind {
	second := head[1]
	switch verb := head[0]; {
	case is(verb, "SELECT", "VALUES", "TABLE", "WITH", "SHOW", "DO"):
		return Read
	case is(verb, "EXPLAIN", "DESCRIBE", "DESC") && !is(second, "ANALYZE"): // which runs what it explains
		return Read
	case is(verb, "INSERT", "UPDATE", "DELETE", "REPLACE"):
		return Write
	case is(verb, "SAVEPOINT"), is(verb, "RELEASE") && is(second, "SAVEPOINT"):
		return Savepoint
	case is(verb, "ROLLBACK") && (is(second, "TO") || is(second, "WORK") && is(head[2], "TO")):
		return Undo
	case is(verb, "SIGNAL", "KILL", "USE"):
		return Other
	case is(verb, "CREATE", "DROP") && (is(second, "TEMPORARY") || is(second, "OR") && is(head[3], "TEMPORARY")):
		return Other
	case is(verb, "CREATE", "DROP") && !is(second, "PREPARE"),
		is(verb, "BEGIN", "START", "COMMIT", "ROLLBACK", "RENAME", "TRUNCATE", "GRANT", "REVOKE", "FLUSH", "OPTIMIZE", "REPAIR"),
		is(verb, "ANALYZE") && is(second, "TABLE", "TABLES", "LOCAL", "NO_WRITE_TO_BINLOG"),
		is(verb, "XA") && !is(second, "RECOVER"),
		is(verb, "ALTER") && !is(second, "INSTANCE"),
		is(verb, "LOCK") && is(second, "TABLE", "TABLES"):
		return Ends
	}
	return Unclear
}

// is says whether a token is one of the keywords.
func is(token string, keywords ...string) bool {
	return slices.ContainsFunc(keywords, func(k string) bool { return strings.EqualFold(token, k) })
}

// name says whether a token may be the name of a function.
func name(token string) bool {
	return token != "" && (inWord(token[0]) || token[0] == '`' || token[0] == '"')
}

// keywords are the grammar's own before a parenthesis, functions those that are built into both servers:
// with a space behind them a stored one may be meant. A name that is in neither may write.
const (
	keywords  = " ALL AND ANY AS BETWEEN BY ELSE EXISTS FROM IN INTERVAL JOIN LIKE LIMIT NOT ON OR OVER SELECT THEN UNION USING VALUES WHEN WHERE "
	functions = " CAST COALESCE CONCAT COUNT DATE_ADD DATE_SUB GREATEST HEX IFNULL LEAST LENGTH LOWER MAX MIN NOW NULLIF SUM UPPER UTC_TIMESTAMP "
)

func known(name string, gap bool) bool {
	word := " " + strings.ToUpper(name) + " "
	return strings.Contains(keywords, word) || !gap && strings.Contains(functions, word)
}

// harmless are the comments that MariaDB executes which leave a statement what it is: variables that are set
// for it alone, in front of it, and an index.
//
//nolint:gochecknoglobals // a constant
var harmless = regexp.MustCompile("(?i)^m! (set statement ([a-z_]+ = ('[^'\"\\\\`]*'|[a-z0-9_]+)(, )?)+ for|(force|use|ignore) index \\((`[^`]+`|[a-z0-9_]+)\\)) $")

// scanner reads what stands outside of quotes and comments.
type scanner struct {
	text string
	read bool // something of the statement was read
	gap  bool // white space or a comment stands before the token
	bad  bool // the rest is not understood
}

func isBlank(c byte) bool { return c == ' ' || c-'\t' < 5 }
func isDigit(c byte) bool { return c-'0' < 10 }
func inWord(c byte) bool  { return (c|0x20)-'a' < 26 || isDigit(c) || c == '_' || c >= utf8.RuneSelf }

// next returns a word, the quote that a string or name was in, or one byte; nothing at the end.
func (s *scanner) next() string {
	if s.skip(); s.text == "" {
		return ""
	}
	n := 1
	switch c := s.text[0]; {
	case inWord(c):
		for n < len(s.text) && (inWord(s.text[n]) || s.text[n] == '$' && !isDigit(c)) { // elsewhere $$ may be a quote
			n++
		}
		s.bad = s.bad || !utf8.ValidString(s.text[:n])
	case c == '\'', c == '"', c == '`':
		end := strings.IndexByte(s.text[1:], c) // doubled, it is the next one
		if s.bad = s.bad || end < 0; s.bad {
			return s.end()
		}
		inside := s.text[1 : 1+end]
		s.bad = c != '`' && strings.ContainsRune(inside, '\\') || strings.ContainsRune(inside, 0) || !utf8.ValidString(inside)
		s.text = s.text[end+1:]
	case c == '\\', c == '$', c == ':' && !strings.HasPrefix(s.text, ":="), c < ' ', c == 0x7f: // $$ is a quote on MySQL 9
		s.bad = true
	}
	if s.bad {
		return s.end()
	}
	token := s.text[:n]
	s.text, s.read = s.text[n:], true
	return token
}

func (s *scanner) end() string {
	s.bad, s.text = true, ""
	return ""
}

func (s *scanner) skip() {
	for s.gap = false; s.text != ""; s.gap = true {
		c, begin, until := s.text[0], "--", "\n"
		switch {
		case isBlank(c):
			s.text = s.text[1:]
			continue
		case c == '#':
			begin = "#"
		case strings.HasPrefix(s.text, "--") && (len(s.text) == 2 || s.text[2] <= ' '):
		case strings.HasPrefix(s.text, "/*"):
			begin, until = "/*", "*/"
		default:
			return
		}
		comment, rest, closed := strings.Cut(s.text[len(begin):], until)
		executed := until == "*/" && (strings.HasPrefix(comment, "!") || len(comment) > 1 && comment[1] == '!' && comment[0]|0x20 == 'm')
		if executed && harmless.MatchString(comment) {
			sets := is(strings.Fields(comment)[1], "SET")
			executed = sets && (s.read || strings.Contains(strings.ToLower(comment), "autocommit"))
		}
		quoted := strings.HasPrefix(comment, "+") && // MySQL reads quotes in a hint
			(strings.ContainsAny(comment, "\"`\\") || strings.Count(comment, "'")%2 != 0)
		if s.bad = executed || quoted || !closed && until == "*/" || strings.ContainsRune(comment, 0) || !utf8.ValidString(comment); s.bad {
			s.end()
			return
		}
		s.text = rest
	}
}
