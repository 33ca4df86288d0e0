package crashtest

import "testing"

func TestClassify(t *testing.T) {
	tests := []struct {
		query string
		kind  kind
		left  after
	}{
		{"BEGIN", kindBegin, open},
		{"  begin work;", kindBegin, open},
		{"START/**/TRANSACTION READ ONLY", kindBegin, open},
		{"--\nstart transaction, read only", kindBegin, open},
		{"START SLAVE", kindExec, closed},
		{"BEGIN NOT ATOMIC SELECT 1", kindExec, asBefore},
		{"/* who */ -- why\n# what\nCOMMIT", kindCommit, closed},
		{"COMMIT AND CHAIN", kindCommit, open},
		{"/* open", kindExec, asBefore},
		{"ROLLBACK", kindRollback, closed},
		{"ROLLBACK WORK", kindRollback, closed},
		{"ROLLBACK AND CHAIN", kindRollback, open},
		{"rollback /* x */ to savepoint a", kindExec, asBefore},
		{"ROLLBACK WORK TO a", kindExec, asBefore},
		{"SAVEPOINT a", kindExec, asBefore},
		{"BEGIN; INSERT INTO t VALUES (1); COMMIT", kindExec, asBefore},
		{"CREATE TABLE t (a INT)", kindExec, closed},
		{"CREATE/**/TEMPORARY TABLE t (a INT)", kindExec, asBefore},
		{"TRUNCATE t", kindExec, closed},
		{"INSERT INTO t VALUES ('COMMIT')", kindExec, asBefore},
		{"", kindExec, asBefore},
	}
	for _, tt := range tests {
		if kind, left := classify(tt.query, kindExec); kind != tt.kind || left != tt.left {
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
