package crashtest

import (
	"strings"
	"testing"
)

// FuzzClassify: any text has a kind, the same in capitals and behind a comment; only the
// words for it begin or end a transaction.
func FuzzClassify(f *testing.F) {
	for _, seed := range []string{"BEGIN", "begin not atomic", "START TRANSACTION READ ONLY", "start slave", "COMMIT AND CHAIN", "ROLLBACK TO x", "ROLLBACK WORK TO x", "rollback;", "COMMIT; DELETE FROM t",
		"/* c */ COMMIT", "/*! COMMIT */", "-- c\nBEGIN", "# c", "/* open", "CREATE TEMPORARY TABLE t", "DROP TABLE t", "", ";", " \t\n", "SELECT 1", "\x00COMMIT"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		kind, ends := classify(query, Exec)
		if again, endsToo := classify("/* x */ "+query, Exec); again != kind || endsToo != ends {
			t.Fatalf("%q is %v, %v, and behind a comment %v, %v", query, kind, ends, again, endsToo)
		}
		first := strings.ToUpper(strings.TrimLeft(skipComments(query), " \t\r\n\f\v"))
		for _, c := range []struct {
			kind  Kind
			words []string
		}{{Begin, []string{"BEGIN", "START"}}, {Commit, []string{"COMMIT"}}, {Rollback, []string{"ROLLBACK"}}} {
			if kind == c.kind && !strings.HasPrefix(first, c.words[0]) && !strings.HasPrefix(first, c.words[len(c.words)-1]) {
				t.Fatalf("%q is %v", query, kind)
			}
		}
		if ends && kind != Exec {
			t.Fatalf("%q is %v and DDL", query, kind)
		}
	})
}
