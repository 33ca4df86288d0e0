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
		s := Classify(text, UTF8)
		if s.Placeholders > strings.Count(text, "?") || s.Kind == Unclear && s.Travels {
			t.Fatalf("%+v", s)
		}
		if s.Travels {
			if parts, ok := Split(text, UTF8); !ok || len(parts) != 1 || parts[0] != text {
				t.Fatalf("it travels, and is %q", parts)
			}
			if parts, ok := Split(text+";"+text, UTF8); !ok || len(parts) != 2 {
				t.Fatalf("twice it is %q", parts)
			}
		}
		if behind := Classify("/* x */ "+text, UTF8); behind.Kind != s.Kind || behind.Travels != s.Travels || behind.Name != s.Name {
			t.Fatalf("%+v, and behind a comment %+v", s, behind)
		}
		if any := Classify(text, OtherCharset); any.Kind != Unclear && any.Kind != s.Kind {
			t.Fatalf("%+v, and in any character set %+v", s, any)
		}
	})
}
