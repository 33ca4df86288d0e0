package onerow_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
)

// TestWaitsAreFew: what is behind a lock is tried three times, not twenty: with a lock wait timeout that is
// three times its duration, and with a read timeout three sessions that wait in the server, which does not
// notice that nobody listens.
func TestWaitsAreFew(t *testing.T) {
	t.Parallel()
	for name, param := range map[string]dbtest.Option{
		"lock wait timeout": dbtest.Param("innodb_lock_wait_timeout", "1"),
		"read timeout":      dbtest.Param("readTimeout", "300ms"),
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := floortest.Accounts(t, param)
			other, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			dbtest.Exec(t, other, floortest.Add, 1)
			runs := 0
			err = onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
				runs++
				_, err := tx.ExecContext(ctx, floortest.Add, 1)
				return err
			})
			if !onerow.Retryable(err) || runs != 3 {
				t.Errorf("%v after %d runs", err, runs)
			}
			if waiting := dbtest.Executing(t, db, "UPDATE account"); len(waiting) > 3 {
				t.Errorf("%d sessions wait", len(waiting))
			}
			if err := other.Rollback(); err != nil {
				t.Fatal(err)
			}
			dbtest.Eventually(t, 10*time.Second, func() (bool, string) {
				waiting := dbtest.Executing(t, db, "UPDATE account")
				return len(waiting) == 0, fmt.Sprint(waiting)
			})
			floortest.WantBalances(t, db, "0,0")
		})
	}
}
