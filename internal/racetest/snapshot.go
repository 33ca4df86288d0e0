package racetest

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// Refused joins a verb into a transaction at REPEATABLE READ whose snapshot is older than what the verb
// meets. look takes the snapshot, change is committed after it. On a server that refuses such a write
// ([dbtest.SnapshotIsolation], with [dbtest.SnapshotConflicts] among db's options) the verb's error must be
// Retryable, and the caller's transaction be gone, with what it had written before; the whole, run again,
// must succeed. On other servers the verb may answer what it likes, for which there are other tests.
func Refused(t *testing.T, db *sql.DB, look string, change func() error, verb func(ctx context.Context, tx *onerow.Tx) error) {
	t.Helper()
	runs, refused := 0, 0
	err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := onerow.Query(ctx, tx, look, nil, func(*sql.Rows) error { return nil }); err != nil {
			return err
		}
		if runs++; runs == 1 {
			if err := change(); err != nil {
				return err
			}
		}
		err := verb(ctx, tx)
		if runs > 1 || err == nil || !onerow.Retryable(err) {
			return err
		}
		refused++
		if _, err := tx.ExecContext(ctx, "DO 0"); !errors.Is(err, onerow.ErrTxPoisoned) {
			t.Errorf("after the refusal: %v", err)
		}
		return err
	})
	if has := dbtest.SnapshotIsolation(t); has && (err != nil || refused != 1 || runs != 2) {
		t.Errorf("refused %d times in %d runs: %v", refused, runs, err)
	} else if !has && refused != 0 {
		t.Errorf("refused by a server without snapshot isolation: %v", err)
	}
}
