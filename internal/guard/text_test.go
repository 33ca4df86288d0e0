package guard_test

import (
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
)

// TestGuardText: a transaction that was begun by text on a *sql.Conn is guarded too, until ROLLBACK is sent
// as text. A statement in autocommit has no second half.
func TestGuardText(t *testing.T) {
	plain, dsn := floortest.Accounts(t)
	db := floortest.Pools(t, dsn)["guarded"]
	for _, c := range []struct {
		begin string
		first uint16 // 0: the session goes on
	}{
		{"BEGIN", 1213}, {"/* trace=7 */ start\ttransaction ", 1213}, {"SET SESSION autocommit = 0", 1213}, {"set @@session.autocommit=OFF", 1213},
		{"SELECT 1", 0}, {"SET autocommit=1", 0}, {"BEGIN; ", 1213},
	} {
		t.Run(c.begin, func(t *testing.T) {
			ctx := t.Context()
			dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
			conn, err := db.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close() //nolint:errcheck // closed below
			dbtest.Exec(t, conn, c.begin)
			if c.first == 0 {
				victim(t, plain, func() error { //nolint:errcheck // it has looked at it
					_, err := conn.ExecContext(ctx, "UPDATE account SET balance = balance + 1 WHERE id <= 2 ORDER BY id")
					return err
				})
				dbtest.Exec(t, conn, floortest.Add, 2)
				floortest.WantTwo(t, plain, "0,1")
				return
			}
			dbtest.Exec(t, conn, floortest.Add, 1)
			victim(t, plain, func() error { _, err := conn.ExecContext(ctx, floortest.Add, 2); return err }) //nolint:errcheck // it has looked at it
			for _, query := range []string{floortest.Add, "COMMIT", "BEGIN", "ROLLBACK TO SAVEPOINT s", "SET autocommit = 1", "ROLLBACK; SELECT 1", "ROLLBACK AND CHAIN"} {
				var args []any
				if query == floortest.Add {
					args = []any{2}
				}
				_, err := conn.ExecContext(ctx, query, args...)
				wantLost(t, query, err, 1213)
			}
			_, err = conn.BeginTx(ctx, nil)
			wantLost(t, "BeginTx", err, 1213)
			dbtest.Exec(t, conn, "ROLLBACK")
			dbtest.Exec(t, conn, floortest.Add, 1)
			dbtest.Exec(t, conn, "COMMIT")
			dbtest.Exec(t, conn, "SET autocommit = 1")
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			floortest.WantTwo(t, plain, "1,0")
		})
	}
}

// TestGuardReturned: a session with a lost transaction on it that was begun by text is not given to the next
// user.
func TestGuardReturned(t *testing.T) {
	plain, dsn := floortest.Accounts(t)
	db := floortest.Pools(t, dsn)["guarded"]
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, conn, "BEGIN")
	dbtest.Exec(t, conn, floortest.Add, 1)
	victim(t, plain, func() error { _, err := conn.ExecContext(t.Context(), floortest.Add, 2); return err }) //nolint:errcheck // it has looked at it
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, floortest.Add, 2)
	floortest.WantBalances(t, plain, "0,1")
}
