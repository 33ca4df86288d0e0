//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

const (
	takeMoney = "UPDATE account SET balance = balance - 30 WHERE id = 1"
	giveMoney = "UPDATE account SET balance = balance + 30 WHERE id = 2"
)

// A node that leaves the others between two statements of a transaction refuses ROLLBACK (Galera, 1047): the session is
// back in its pool with the first statement in it, and the next transaction commits that. Not so on a pool of
// pool.Open, in transactions of the toolkit's and of the caller's own.
func TestHalf(t *testing.T) {
	last := nodes.Nodes() - 1
	for name, c := range map[string]struct {
		open     func(t testing.TB, node int, database string) *sql.DB
		transfer func(t *testing.T, db *sql.DB, between func()) error
	}{
		"InTx":    {open, transferInTx},
		"BeginTx": {open, transferOwn},
		"plain":   {openPlain, transferOwn}, // this test can fail
	} {
		t.Run(name, func(t *testing.T) {
			s := emptySite(t)
			dbtest.Exec(t, s.db[0], "CREATE TABLE account (id INT NOT NULL PRIMARY KEY, balance INT NOT NULL) ENGINE=InnoDB")
			dbtest.Exec(t, s.db[0], "INSERT INTO account VALUES (1, 100), (2, 0)")
			s.same("account")
			db := c.open(t, last, s.name)
			db.SetMaxOpenConns(1)
			left := false
			err := c.transfer(t, db, func() {
				if !left {
					left = true
					leave(t, last)
				}
			})
			t.Log("transfer:", err)
			comeBack(t, last)
			next(t, db)
			taken := dbtest.Scan[int](t, s.db[0], "SELECT 100 - balance FROM account WHERE id = 1")
			given := dbtest.Scan[int](t, s.db[0], "SELECT balance FROM account WHERE id = 2")
			half := name == "plain" && nodes.Kind() == devdb.Galera
			if (taken != given) != half || err == nil && given != 30 {
				t.Errorf("%d were taken and %d given, half a transaction: %v, want %v", taken, given, taken != given, half)
			}
			s.same("account")
		})
	}
}

// transferInTx may be run again by itself, as long as the node is away.
func transferInTx(t *testing.T, db *sql.DB, between func()) error {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if _, err := tx.ExecContext(ctx, takeMoney); err != nil {
			return err
		}
		between()
		_, err := tx.ExecContext(ctx, giveMoney)
		return err
	})
}

func transferOwn(t *testing.T, db *sql.DB, between func()) error {
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, tx, takeMoney)
	between()
	if _, err := tx.ExecContext(t.Context(), giveMoney); err != nil {
		t.Log("rollback:", tx.Rollback())
		return err
	}
	return tx.Commit()
}

// next is another request on the same pool, which commits.
func next(t *testing.T, db *sql.DB) {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Scan[int](t, tx, "SELECT COUNT(*) FROM account")
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// openPlain is a pool without the guard.
func openPlain(t testing.TB, node int, database string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", nodes.DSN(node, database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// leave cuts a node off from the others, and returns when it knows.
func leave(t testing.TB, node int) {
	t.Helper()
	admin := openPlain(t, node, "")
	if nodes.Kind() == devdb.Group {
		dbtest.Exec(t, admin, "STOP GROUP_REPLICATION")
		return
	}
	dbtest.Exec(t, admin, "SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'")
	dbtest.Eventually(t, 30*time.Second, func() (bool, string) {
		var name, status string
		err := admin.QueryRowContext(t.Context(), "SHOW STATUS LIKE 'wsrep_cluster_status'").Scan(&name, &status)
		return err == nil && status == "non-Primary", status
	})
}

func comeBack(t testing.TB, node int) {
	t.Helper()
	if nodes.Kind() == devdb.Galera {
		dbtest.Exec(t, openPlain(t, node, ""), "SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'")
	}
	rejoin(t, node)
}
