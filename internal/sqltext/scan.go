package sqltext

import (
	"strings"
	"unicode/utf8"
)

type token uint8

const (
	end       token = iota
	bad             // not understood, and nothing behind it is
	word            // keyword, name without quotes, number
	quoted          // name in quotes
	literal         // string
	param           // ?
	semicolon       // ;
	assign          // :=
	other           // one byte
)

// scanner reads tokens. It follows sql_lex.cc of both servers, and is bad where they differ.
type scanner struct {
	text    string
	charset Charset

	pos   int // behind the token
	start int
	tok   token
	b     byte // of other
	gap   bool // white space or a comment stands before the token

	swallows   bool // the last comment runs on into what is appended
	differs    bool // a driver that puts arguments in may see other placeholders
	executable bool // a comment was met that MariaDB runs
	setVar     bool // a hint that sets variables was met
}

func isBlank(c byte) bool   { return c == ' ' || c-'\t' < 5 }
func isControl(c byte) bool { return c < ' ' && !isBlank(c) || c == 0x7f }
func isDigit(c byte) bool   { return c-'0' < 10 }
func isWord(c byte) bool    { return (c|0x20)-'a' < 26 || isDigit(c) || c == '_' } // of ASCII

func (s *scanner) fail() { s.tok, s.pos = bad, len(s.text) }

// next reads a token. Behind bad there is only bad.
func (s *scanner) next() {
	if s.tok != bad {
		s.skip()
	}
	if s.tok == bad {
		return
	}
	s.start = s.pos
	if s.pos == len(s.text) {
		s.tok = end
		return
	}
	c := s.text[s.pos]
	// A word, literal or argument would become one with an argument that it touches, and strings do with
	// white space between them.
	if s.tok == param && (c == '?' || c == '\'' || c == '"' || !s.gap && (c == '.' || c == '`')) {
		s.differs = true
	}
	switch {
	case isWord(c), c >= 0x80:
		s.word()
		return
	case isControl(c):
		s.fail()
		return
	}
	s.pos++
	switch c {
	case '\'', '"', '`':
		s.quote(c)
	case ';':
		s.tok = semicolon
	case '?':
		s.param()
	case ':': // elsewhere it is a placeholder of sql_mode=ORACLE
		if s.at(s.pos) != '=' {
			s.fail()
			return
		}
		s.pos++
		s.tok = assign
	case '\\', '$': // $$ is a quote on MySQL 9
		s.fail()
	default:
		s.tok, s.b = other, c
	}
}

// param is behind a question mark.
func (s *scanner) param() {
	if c := s.at(s.pos); isWord(c) || c == '$' || c >= 0x80 { // then it is no placeholder
		s.fail()
		return
	}
	switch before := s.tok; {
	case before == literal:
		s.differs = true
	case s.gap, s.start == 0:
	case before == word, before == quoted, before == other && (s.b == '@' || s.b == '.'):
		s.differs = true
	}
	s.tok = param
}

// at is a byte of the text, and NUL behind it.
func (s *scanner) at(pos int) byte {
	if pos < len(s.text) {
		return s.text[pos]
	}
	return 0
}

func (s *scanner) word() {
	s.tok = word
	number := isDigit(s.text[s.pos])
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case isWord(c), c == '$' && !number: // behind a number it may begin a quote
			s.pos++
		case c >= 0x80:
			r, size := utf8.DecodeRuneInString(s.text[s.pos:])
			if s.charset != UTF8 || r == utf8.RuneError && size == 1 {
				s.fail()
				return
			}
			s.pos += size
		default:
			return
		}
	}
}

// quote reads to the end of what c began.
func (s *scanner) quote(c byte) {
	s.tok = literal
	if c == '`' {
		s.tok = quoted
	}
	for s.pos < len(s.text) {
		switch b := s.text[s.pos]; {
		case b == c:
			if s.at(s.pos+1) != c {
				s.pos++
				return
			}
			s.pos++
		case b == '\\' && c != '`', b == 0, b >= 0x80 && s.charset == OtherCharset: // in some modes it escapes
			s.fail()
			return
		case b == '?':
			s.differs = true
		}
		s.pos++
	}
	s.fail()
}

func (s *scanner) skip() {
	s.gap = false
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case isBlank(c):
			s.pos++
		case c == '#', c == '-' && s.at(s.pos+1) == '-' && (isBlank(s.at(s.pos+2)) || isControl(s.at(s.pos+2))): // or the end
			s.comment("\n", 0)
		case c == '/' && s.at(s.pos+1) == '*':
			b := s.at(s.pos + 2)
			if b == '!' || b|0x20 == 'm' && s.at(s.pos+3) == '!' { // the server runs it, or not
				if content, _, closed := strings.Cut(s.text[s.pos:], "*/"); b == '!' || !closed || !plain(content[4:], s.pos == 0) {
					s.fail()
					return
				}
				s.executable = true
			}
			s.comment("*/", 2)
			if b == '+' {
				s.hint(s.text[s.start:s.pos])
			}
		default:
			return
		}
		s.gap = true
	}
}

// comment goes over one whose end is searched after a number of bytes.
func (s *scanner) comment(until string, after int) {
	s.start = s.pos
	n := strings.Index(s.text[s.pos+after:], until)
	if n < 0 {
		s.pos = len(s.text)
		s.swallows = true
	} else {
		s.pos += after + n + len(until)
	}
	for i := s.start; i < s.pos; i++ {
		switch c := s.text[i]; {
		case c == '?':
			s.differs = true
		case c == 0, c >= 0x80 && s.charset == OtherCharset:
			s.fail()
			return
		}
	}
	switch b := s.at(s.start + 2); {
	case s.swallows && after > 0: // not closed
		s.fail()
	case after > 0 && b == '/', after == 0 && s.text[s.start] == '-' && b != ' ' && b != '\t' && b != '\n' && b != '\r':
		s.differs = true // go-sql-driver sees an end, or no comment
	}
}

// hint looks at one for the optimizer. MySQL reads quotes in it: each must end before it does.
func (s *scanner) hint(text string) {
	if s.tok == bad || strings.ContainsAny(text, "\"\\") || strings.Count(text, "'")%2 != 0 || strings.Count(text, "`")%2 != 0 {
		s.fail()
		return
	}
	for i := 0; i+7 <= len(text); i++ {
		s.setVar = s.setVar || strings.EqualFold(text[i:i+7], "SET_VAR")
	}
}

// is says whether the token is a keyword, given in capitals.
func (s *scanner) is(keyword string) bool {
	return s.tok == word && len(keyword) == s.pos-s.start && strings.EqualFold(s.raw(), keyword)
}

func (s *scanner) isByte(b byte) bool { return s.tok == other && s.b == b }

// accept reads on behind a keyword.
func (s *scanner) accept(keyword string) bool { return s.passed(s.is(keyword)) }

func (s *scanner) acceptByte(b byte) bool { return s.passed(s.isByte(b)) }

func (s *scanner) acceptOne(a, b token) bool { return s.passed(s.tok == a || s.tok == b) }

// passed reads on if the token is the one that was wanted.
func (s *scanner) passed(wanted bool) bool {
	if wanted {
		s.next()
	}
	return wanted
}

func (s *scanner) raw() string { return s.text[s.start:s.pos] }

// upper is the word in capitals, in buf, or empty if it is too long for a keyword.
func upper(buf *[maxWord]byte, text string) []byte {
	if len(text) > maxWord {
		return nil
	}
	for i := range len(text) {
		c := text[i]
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		buf[i] = c
	}
	return buf[:len(text)]
}

const maxWord = 24

// unquote is the name or string in a token, without its quotes.
func unquote(raw string) string {
	if raw == "" || raw[0] != '\'' && raw[0] != '"' && raw[0] != '`' {
		return raw
	}
	q := raw[:1]
	return strings.ReplaceAll(raw[1:len(raw)-1], q+q, q)
}
