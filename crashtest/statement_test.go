package crashtest

import "testing"

func TestClassify(t *testing.T) {
	tests := []struct {
		query  string
		kind   Kind
		endsTx bool
	}{
		{"BEGIN", Begin, false},
		{"  begin work;", Begin, false},
		{"START TRANSACTION READ ONLY", Begin, false},
		{"start transaction, read only", Begin, false},
		{"START SLAVE", Exec, false},
		{"BEGIN NOT ATOMIC SELECT 1", Exec, false},
		{"/* who */ -- why\n# what\nCOMMIT AND CHAIN", Commit, false},
		{"/* open", Exec, false},
		{"ROLLBACK", Rollback, false},
		{"ROLLBACK WORK", Rollback, false},
		{"rollback to savepoint a", Exec, false},
		{"ROLLBACK WORK TO a", Exec, false},
		{"SAVEPOINT a", Exec, false},
		{"BEGIN; INSERT INTO t VALUES (1); COMMIT", Exec, false},
		{"CREATE TABLE t (a INT)", Exec, true},
		{"CREATE TEMPORARY TABLE t (a INT)", Exec, false},
		{"TRUNCATE t", Exec, true},
		{"INSERT INTO t VALUES ('COMMIT')", Exec, false},
		{"", Exec, false},
	}
	for _, tt := range tests {
		if kind, endsTx := classify(tt.query, Exec); kind != tt.kind || endsTx != tt.endsTx {
			t.Errorf("%q is %s (ends %v), want %s (%v)", tt.query, kind, endsTx, tt.kind, tt.endsTx)
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
