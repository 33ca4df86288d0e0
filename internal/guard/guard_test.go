package guard_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// victim makes the transaction, in which account 1 is locked already, the victim of a deadlock: last waits
// for the account with the highest id, which another transaction has locked that has written more, and which
// then waits for account 1.
func victim(t *testing.T, plain *sql.DB, last func() error) error {
	t.Helper()
	dbtest.Exec(t, plain, "CREATE TABLE IF NOT EXISTS weight (n INT PRIMARY KEY) ENGINE=InnoDB")
	other, err := plain.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, other, "INSERT INTO weight VALUES (1)"+rowsFrom(2, 300, "(%d)"))
	dbtest.Exec(t, other, "UPDATE account SET balance = balance + 1 WHERE id >= 2 ORDER BY id DESC LIMIT 1")
	answer := make(chan error, 1)
	go func() { answer <- last() }()
	dbtest.AwaitLock(t, plain)
	dbtest.Exec(t, other, floortest.Add, 1)
	err = <-answer
	if rerr := other.Rollback(); rerr != nil {
		t.Fatal(rerr)
	}
	if mysqlerr.Number(err) != 1213 {
		t.Fatalf("no deadlock: %v", err)
	}
	return err
}

// rowsFrom are more rows of an INSERT.
func rowsFrom(first, last int, row string) string {
	var b strings.Builder
	for n := first; n <= last; n++ {
		fmt.Fprintf(&b, ", "+row, n)
	}
	return b.String()
}

func wantLost(t *testing.T, what string, err error, first uint16) {
	t.Helper()
	if !errors.Is(err, onerow.ErrTxPoisoned) || mysqlerr.Number(err) != first {
		t.Errorf("%s: %v", what, err)
	}
}

// highest is the last of many accounts.
const highest = 102

// ways are the ways in which the last statement of a transaction can meet the error that ends it.
var ways = map[string]func(ctx context.Context, tx *sql.Tx) error{
	"Exec": func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, floortest.Add, highest)
		return err
	},
	"Query": func(ctx context.Context, tx *sql.Tx) error {
		return onerow.QueryRow(ctx, tx, "SELECT id FROM account WHERE id = ? FOR UPDATE", []any{highest}, new(int))
	},
	"Stmt": func(ctx context.Context, tx *sql.Tx) (err error) {
		stmt, err := tx.PrepareContext(ctx, floortest.Add)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stmt.Close()) }()
		_, err = stmt.ExecContext(ctx, highest)
		return err
	},
	"Stmt.Query": func(ctx context.Context, tx *sql.Tx) (err error) {
		stmt, err := tx.PrepareContext(ctx, "SELECT id FROM account WHERE id = ? FOR UPDATE")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stmt.Close()) }()
		return stmt.QueryRowContext(ctx, highest).Scan(new(int))
	},
	// The server sends the rows as it finds them, and waits at one of the last.
	"Rows.Next": func(ctx context.Context, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT id, REPEAT('x', 1000) FROM account FOR UPDATE")
		if err != nil {
			return fmt.Errorf("no row came: %v", err) //nolint:errorlint // it is not the error that is wanted
		}
		for rows.Next() {
		}
		return errors.Join(rows.Err(), rows.Close())
	},
	"Rows.Close": func(ctx context.Context, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT id, REPEAT('x', 1000) FROM account FOR UPDATE")
		if err != nil {
			return fmt.Errorf("no row came: %v", err) //nolint:errorlint // see above
		}
		if !rows.Next() {
			return fmt.Errorf("no row came: %v", rows.Err()) //nolint:errorlint // see above
		}
		return rows.Close()
	},
}

// TestGuardLost: of a caller's own transaction that was the victim of a deadlock nothing is written, though
// the caller goes on and commits. Without the guard its second half is.
func TestGuardLost(t *testing.T) {
	for way, last := range ways {
		plain, dsn := floortest.Accounts(t)
		dbtest.Exec(t, plain, "INSERT INTO account VALUES (3, 0)"+rowsFrom(4, highest, "(%d, 0)"))
		for name, db := range floortest.Pools(t, dsn) {
			t.Run(way+" "+name, func(t *testing.T) {
				ctx := t.Context()
				db.SetMaxOpenConns(1)
				dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer tx.Rollback() //nolint:errcheck // after COMMIT it is done
				dbtest.Exec(t, tx, floortest.Add, 1)
				first := victim(t, plain, func() error { return last(ctx, tx) })
				_, err = tx.ExecContext(ctx, floortest.Add, 2)
				if name == "bare" {
					if err := errors.Join(err, tx.Commit()); err != nil {
						t.Errorf("the control: %v", err)
					}
					floortest.WantTwo(t, plain, "0,1")
					return
				}
				wantLost(t, "Exec", err, 1213)
				if errors.Unwrap(first) != nil && !errors.Is(err, errors.Unwrap(first)) {
					t.Errorf("the first error is not in %v", err)
				}
				wantLost(t, "Query", onerow.QueryRow(ctx, tx, "SELECT 1", nil, new(int)), 1213)
				_, err = tx.PrepareContext(ctx, "SELECT 1") //nolint:sqlclosecheck // there is none
				wantLost(t, "Prepare", err, 1213)
				_, err = tx.ExecContext(ctx, "SAVEPOINT s")
				wantLost(t, "SAVEPOINT", err, 1213)
				err = tx.Commit()
				wantLost(t, "Commit", err, 1213)
				if !onerow.Retryable(err) {
					t.Errorf("not retryable: %v", err)
				}
				floortest.WantTwo(t, plain, "0,0")
				dbtest.Exec(t, db, floortest.Add, 1) // the session is free for the next one
				floortest.WantTwo(t, plain, "1,0")
			})
		}
	}
}
