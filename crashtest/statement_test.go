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

// TestBeside: the first write that another session's transaction does not hold is named.
func TestBeside(t *testing.T) {
	begin, insert := Statement{Session: 1, Kind: kindBegin, SQL: "START TRANSACTION"}, Statement{Session: 1, Kind: kindExec, SQL: "INSERT INTO a VALUES (1)", InTx: true}
	look, commit := Statement{Session: 2, Kind: kindQuery, SQL: "SELECT 1"}, Statement{Session: 1, Kind: kindCommit, SQL: "COMMIT", InTx: true}
	alone, packet := Statement{Session: 2, Kind: kindExec, SQL: "INSERT INTO b VALUES (1)"}, Statement{Session: 2, Kind: kindCommit, SQL: "START TRANSACTION; INSERT INTO b VALUES (1); COMMIT", Begins: true}
	const behind = ") is beside the transaction that session 1 began with statement 1: a rollback does not take it back"
	for _, c := range []struct {
		log  Log
		want string
	}{
		{Log{begin, insert, commit}, ""},
		{Log{begin, look, insert, commit, alone, packet}, ""},
		{Log{begin, insert, alone, commit}, "statement 3 (session 2: INSERT INTO b VALUES (1)" + behind},
		{Log{begin, packet, insert, commit}, "statement 2 (session 2: START TRANSACTION; INSERT INTO b VALUES (1); COMMIT" + behind},
	} {
		if got := c.log.beside(); got != c.want {
			t.Errorf("%q, want %q, of\n%s", got, c.want, c.log)
		}
	}
}
