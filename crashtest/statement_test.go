package crashtest

import "testing"

func TestClassify(t *testing.T) {
	tests := []struct {
		query string
		kind  Kind
		left  after
	}{
		{"BEGIN", Begin, open},
		{"  begin work;", Begin, open},
		{"START/**/TRANSACTION READ ONLY", Begin, open},
		{"--\nstart transaction, read only", Begin, open},
		{"START SLAVE", Exec, closed},
		{"BEGIN NOT ATOMIC SELECT 1", Exec, asBefore},
		{"/* who */ -- why\n# what\nCOMMIT", Commit, closed},
		{"COMMIT AND CHAIN", Commit, open},
		{"/* open", Exec, asBefore},
		{"ROLLBACK", Rollback, closed},
		{"ROLLBACK WORK", Rollback, closed},
		{"ROLLBACK AND CHAIN", Rollback, open},
		{"rollback /* x */ to savepoint a", Exec, asBefore},
		{"ROLLBACK WORK TO a", Exec, asBefore},
		{"SAVEPOINT a", Exec, asBefore},
		{"BEGIN; INSERT INTO t VALUES (1); COMMIT", Exec, asBefore},
		{"CREATE TABLE t (a INT)", Exec, closed},
		{"CREATE/**/TEMPORARY TABLE t (a INT)", Exec, asBefore},
		{"TRUNCATE t", Exec, closed},
		{"INSERT INTO t VALUES ('COMMIT')", Exec, asBefore},
		{"", Exec, asBefore},
	}
	for _, tt := range tests {
		if kind, left := classify(tt.query, Exec); kind != tt.kind || left != tt.left {
			t.Errorf("%q is %s, and leaves %v, want %s, %v", tt.query, kind, left, tt.kind, tt.left)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		query       string
		begins      bool
		uncommitted string
	}{
		{"START TRANSACTION; INSERT INTO t VALUES (?)", true, ""},
		{"START/**/TRANSACTION; INSERT INTO t VALUES (';'); COMMIT", true, "START/**/TRANSACTION; INSERT INTO t VALUES (';')"},
		{"INSERT INTO t VALUES (?); commit ;", false, "INSERT INTO t VALUES (?)"},
		{"INSERT INTO t VALUES ('; COMMIT')", false, ""},
		{"UPDATE t SET a = 1 -- x; COMMIT", false, ""},
		{"COMMIT;", false, ""},
		{"BEGIN", false, ""},
	} {
		if begins, uncommitted := split(tt.query); begins != tt.begins || uncommitted != tt.uncommitted {
			t.Errorf("%q: begins %v, %q", tt.query, begins, uncommitted)
		}
	}
}

func TestOneLine(t *testing.T) {
	if got := oneLine("SELECT\n\t1", 20); got != "SELECT 1" {
		t.Error(got)
	}
	if got := oneLine("äöüß", 3); got != "äö…" {
		t.Error(got)
	}
}
