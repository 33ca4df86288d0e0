package pool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// TestOtherOptions: a file where the server writes none is the statement's fault. It is not run again, and
// the server stays in use.
func TestOtherOptions(t *testing.T) {
	t.Parallel()
	dsn := strings.Replace(floortest.Private(t, "--secure-file-priv="+t.TempDir()), ")/", ",127.0.0.1:1)/", 1)
	db := floortest.Opened(t, dsn)
	db.SetMaxOpenConns(1)
	session := dbtest.Scan[int64](t, db, "SELECT CONNECTION_ID()")
	runs := 0
	err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		runs++
		_, err := tx.ExecContext(ctx, "SELECT 1 INTO OUTFILE '/nowhere/x'")
		return err
	})
	if runs != 1 || mysqlerr.Number(err) != 1290 || onerow.Retryable(err) {
		t.Errorf("%d runs, %v", runs, err)
	}
	if got := dbtest.Scan[int64](t, db, "SELECT CONNECTION_ID()"); got != session {
		t.Error("the server was given up")
	}
}
