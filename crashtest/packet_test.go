package crashtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestPacketsFailInside: a packet that ends with COMMIT fails right before that, too, and one that begins a
// transaction leaves it open where a statement fails. A workflow that takes an unknown outcome for a failure, and
// is not idempotent, is found out; one that has a key is not.
func TestPacketsFailInside(t *testing.T) {
	dsn := dbtest.DSN(t)
	mustExec(t, dbtest.OpenDSN(t, dsn), "CREATE TABLE paid (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB", "CREATE TABLE total (n INT NOT NULL) ENGINE=InnoDB")
	wrapped := 0
	w := Workflow{
		DSN:   dsn + "&multiStatements=true&interpolateParams=true",
		Empty: []string{"paid", "total"},
		Wrap:  func(c driver.Connector) driver.Connector { wrapped++; return c },
		Setup: func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "INSERT INTO total VALUES (0)")
			return err
		},
		Call: func(ctx context.Context, db *sql.DB) error {
			conn, err := db.Conn(ctx)
			if err != nil {
				return err
			}
			defer func() { _ = conn.Close() }()
			if _, err := conn.ExecContext(ctx, "START TRANSACTION; INSERT INTO paid (id, n) VALUES (?, ?)", 1, 7); err != nil {
				if _, rerr := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); rerr != nil || strings.Contains(err.Error(), "1062") {
					return rerr
				}
				return err
			}
			_, err = conn.ExecContext(ctx, "UPDATE total SET n = n + ?; COMMIT", 7)
			if err != nil {
				_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
			}
			return err
		},
	}
	report := Run(t, w)
	if wrapped == 0 {
		t.Error("Wrap was not called")
	}
	log := report.Statements
	if len(log) != 2 || log[0].Kind != kindExec || !log[0].Begins || log[1].Kind != kindCommit || log[1].Begins || !log[1].InTx {
		t.Errorf("the statements are %+v", log)
	}
	for i, want := range [][]Fault{{DeadlockAfter, LockWait}, {CutInside, DeadlockBefore, DeadlockAfter, LockWait, RefusedCommit}} {
		for _, fault := range want {
			if !slices.Contains(faultsOf(log[i]), fault) {
				t.Errorf("%s lacks %q", log[i], fault)
			}
		}
	}
	call := w.Call
	w.Once = true
	w.Call = func(ctx context.Context, db *sql.DB) error {
		if _, err := db.ExecContext(ctx, "DELETE FROM paid"); err != nil { // no key any more
			return err
		}
		return call(ctx, db)
	}
	if _, err := Explore(t.Context(), w); err == nil || !strings.Contains(err.Error(), string(CutAfter)) || strings.Contains(err.Error(), string(CutInside)) {
		t.Errorf("a workflow that adds twice: %v", err)
	}
}
