package sqltext

import "strings"

// plain says of what stands in an executable comment of MariaDB's whether it leaves the statement what it is
// without it: an index that is named, anywhere, and variables that are set for the statement alone, before
// it. It has no placeholder, and no quote that is not closed.
func plain(content string, before bool) bool {
	s := scanner{text: content}
	s.next()
	if before && s.accept("SET") {
		return s.accept("STATEMENT") && s.setsStatement()
	}
	if !s.accept("FORCE") && !s.accept("USE") && !s.accept("IGNORE") || !s.accept("INDEX") {
		return false
	}
	open := s.tok == other && s.b == '('
	s.next()
	named := s.tok == word || s.tok == quoted
	s.next()
	closed := s.tok == other && s.b == ')'
	s.next()
	return open && named && closed && s.tok == end
}

// setsStatement reads the assignments of SET STATEMENT up to FOR, which ends the text. Of what ends or begins
// a transaction the server lets none in.
func (s *scanner) setsStatement() bool {
	for {
		if s.tok != word || strings.HasPrefix(strings.ToLower(s.text[s.start:s.pos]), "autocommit") {
			return false
		}
		s.next()
		if s.tok != other || s.b != '=' {
			return false
		}
		s.next()
		if s.tok != literal && s.tok != word {
			return false
		}
		s.next()
		switch {
		case s.accept("FOR"):
			return s.tok == end
		case s.tok != other || s.b != ',':
			return false
		}
		s.next()
	}
}
