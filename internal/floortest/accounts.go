package floortest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// Accounts is a pool on a fresh table with two accounts.
func Accounts(t testing.TB, opts ...dbtest.Option) (*sql.DB, string) {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	db := dbtest.OpenDSN(t, dsn)
	dbtest.Exec(t, db, "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL) ENGINE=InnoDB")
	dbtest.Exec(t, db, "INSERT INTO account VALUES (1, 0), (2, 0)")
	return db, dsn
}

// Add adds one to an account.
const Add = "UPDATE account SET balance = balance + 1 WHERE id = ?"

// Balances are those of all accounts, in their order.
func Balances(t testing.TB, db onerow.DB) string {
	t.Helper()
	var all string
	if err := onerow.QueryRow(t.Context(), db, "SELECT GROUP_CONCAT(balance ORDER BY id) FROM account", nil, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// WantBalances looks at all accounts.
func WantBalances(t testing.TB, db onerow.DB, want string) {
	t.Helper()
	if got := Balances(t, db); got != want {
		t.Fatalf("balances %s, want %s", got, want)
	}
}

// WantTwo looks at the accounts 1 and 2.
func WantTwo(t *testing.T, db onerow.DB, want string) {
	t.Helper()
	var got string
	if err := onerow.QueryRow(t.Context(), db, "SELECT GROUP_CONCAT(balance ORDER BY id) FROM account WHERE id <= 2", nil, &got); err != nil || got != want {
		t.Errorf("balances %s, want %s: %v", got, want, err)
	}
}

// Transfer is a workflow for crashtest: without a token its COMMIT may be lost.
func Transfer(ctx context.Context, db *sql.DB) error {
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		for id := 1; id <= 2; id++ {
			if _, err := tx.ExecContext(ctx, Add, id); err != nil {
				return err
			}
		}
		return nil
	})
}
