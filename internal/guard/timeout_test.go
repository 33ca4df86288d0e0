package guard_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// TestGuardTimeout: with innodb_rollback_on_timeout=ON a lock wait timeout takes the whole transaction with
// it, and what follows would be committed alone. With OFF, the default, the transaction goes on. The server
// is asked once for each session, and only if something other than ROLLBACK follows.
func TestGuardTimeout(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"OFF", "ON"} {
		t.Run(setting, func(t *testing.T) {
			var dsn string
			if setting == "ON" {
				dsn = floortest.Private(t, "--innodb-rollback-on-timeout=ON")
			} else {
				dsn = dbtest.DSN(t)
			}
			dsn += "&innodb_lock_wait_timeout=1"
			plain := dbtest.OpenDSN(t, dsn)
			dbtest.Exec(t, plain, "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL) ENGINE=InnoDB")
			dbtest.Exec(t, plain, "INSERT INTO account VALUES (1, 0), (2, 0), (3, 0)")
			counted := crashtest.Wrap(floortest.Connector(t, dsn))
			db := floortest.PoolOf(t, counted, true)
			db.SetMaxOpenConns(1)
			holder, err := plain.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer holder.Rollback() //nolint:errcheck // it wrote nothing
			dbtest.Exec(t, holder, "SELECT id FROM account WHERE id = 2 FOR UPDATE")

			begin := func() *sql.Tx {
				tx, err := db.BeginTx(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				dbtest.Exec(t, tx, floortest.Add, 1)
				if _, err := tx.ExecContext(t.Context(), floortest.Add, 2); mysqlerr.Number(err) != 1205 {
					t.Fatalf("no timeout: %v", err)
				}
				return tx
			}
			log, err := crashtest.Count(counted, func() error { return begin().Rollback() })
			if err != nil {
				t.Fatal(err)
			}
			if len(log) != 4 {
				t.Errorf("%d statements:\n%s", len(log), log)
			}
			log, err = crashtest.Count(counted, func() error {
				tx := begin()
				_, err := tx.ExecContext(t.Context(), floortest.Add, 3)
				cerr := tx.Commit()
				want := "1,0,1"
				if setting == "ON" {
					wantLost(t, "Exec", err, 1205)
					wantLost(t, "Commit", cerr, 1205)
					want = "0,0,0"
				} else if err := errors.Join(err, cerr); err != nil {
					t.Errorf("a transaction that is whole does not go on: %v", err)
				}
				floortest.WantBalances(t, plain, want)
				return begin().Commit()
			})
			if (err != nil) != (setting == "ON") {
				t.Errorf("COMMIT right after: %v", err)
			}
			asked := 0
			for _, s := range log {
				if s.SQL == "SELECT @@innodb_rollback_on_timeout" {
					asked++
				}
			}
			if asked != 1 {
				t.Errorf("asked %d times:\n%s", asked, log)
			}
		})
	}
}
