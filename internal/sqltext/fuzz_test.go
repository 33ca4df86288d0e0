package sqltext

import (
	"strings"
	"testing"
)

// FuzzClassify: what is true of any text, whatever a server would say of it.
func FuzzClassify(f *testing.F) {
	for _, text := range []string{
		"BEGIN", "START/**/TRANSACTION", "ROLLBACK TO `a``b`", "SET @@session.autocommit := 'OFF', NAMES utf8", "SELECT f(?), \"a\\\"b\" -- x\n", "INSERT INTO t (a) VALUES ('x''y', ?);",
		"WITH a (b) AS (SELECT 1) SELECT * FROM a", "/*! COMMIT */", "--\nXA END 'a'", "SELECT '\xbf\x5c'", "SELECT 1; COMMIT", "\x00", "SELECT $$", "SET autocommit = @o",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := Classify(text, utf8Mode)
		if s.Placeholders > strings.Count(text, "?") || s.Kind == Unclear && s.Travels {
			t.Fatalf("%+v", s)
		}
		if s.Travels {
			if parts, ok := Split(text, utf8Mode); !ok || len(parts) != 1 || parts[0] != text {
				t.Fatalf("it travels, and is %q", parts)
			}
			if parts, ok := Split(text+";"+text, utf8Mode); !ok || len(parts) != 2 {
				t.Fatalf("twice it is %q", parts)
			}
		}
		if behind := Classify("/* x */ "+text, utf8Mode); behind.Kind != s.Kind || behind.Travels != s.Travels || behind.Name != s.Name {
			t.Fatalf("%+v, and behind a comment %+v", s, behind)
		}
		if any := Classify(text, AnyMode); any.Kind != Unclear && any.Kind != s.Kind && any.Kind != Set {
			if !strings.Contains(text, `"`) { // a name, or a string
				t.Fatalf("%+v, and in any mode %+v", s, any)
			}
		}
	})
}
