package guard_test

import (
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
)

// TestGuardXA: after a deadlock in a transaction that was begun by XA the session takes XA END and XA
// ROLLBACK only.
func TestGuardXA(t *testing.T) {
	plain, dsn := floortest.Accounts(t)
	db := floortest.Pools(t, dsn)["guarded"]
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // its transaction is over
	dbtest.Exec(t, conn, "XA START 'x'")
	dbtest.Exec(t, conn, floortest.Add, 1)
	victim(t, plain, func() error { _, err := conn.ExecContext(t.Context(), floortest.Add, 2); return err }) //nolint:errcheck // it has looked at it
	for _, query := range []string{"UPDATE account SET balance = 7", "XA PREPARE 'x'", "XA COMMIT 'x' ONE PHASE", "COMMIT"} {
		_, err := conn.ExecContext(t.Context(), query)
		wantLost(t, query, err, 1213)
	}
	if _, err := conn.ExecContext(t.Context(), "XA END 'x'"); err == nil {
		t.Error("XA END: the server does not know that it is lost")
	}
	dbtest.Exec(t, conn, "XA ROLLBACK 'x'")
	dbtest.Exec(t, conn, floortest.Add, 1)
	dbtest.Exec(t, conn, "XA START 'y'")
	dbtest.Exec(t, conn, floortest.Add, 2)
	dbtest.Exec(t, conn, "XA END 'y'")
	dbtest.Exec(t, conn, "XA PREPARE 'y'")
	dbtest.Exec(t, conn, "XA COMMIT 'y'")
	floortest.WantBalances(t, plain, "1,1")
}
