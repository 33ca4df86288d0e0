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
	return (s.accept("FORCE") || s.accept("USE") || s.accept("IGNORE")) && s.accept("INDEX") &&
		s.acceptByte('(') && s.acceptOne(word, quoted) && s.acceptByte(')') && s.tok == end
}

// setsStatement reads the assignments of SET STATEMENT up to FOR, which ends the text. Of what ends or begins
// a transaction the server lets none in.
func (s *scanner) setsStatement() bool {
	for {
		switch name := s.raw(); {
		case !s.acceptOne(word, word), strings.HasPrefix(strings.ToLower(name), "autocommit"),
			!s.acceptByte('='), !s.acceptOne(literal, word):
			return false
		case s.accept("FOR"):
			return s.tok == end
		case !s.acceptByte(','):
			return false
		}
	}
}
