package onerow_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
)

// TestInTxUnderFaults: whatever fails where, both rows change or none; nil means that they did, once;
// ErrOutcomeUnknown is said when COMMIT was not answered and at no other time.
func TestInTxUnderFaults(t *testing.T) {
	plain, dsn := floortest.Accounts(t) // looks on without faults
	var unknown, failed, ok int
	report := crashtest.Run(t, crashtest.Workflow{
		DSN:     dsn,
		Without: []crashtest.Fault{crashtest.Abandoned}, // its call looks on, and clears up, after the process has stopped
		Setup: func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "UPDATE account SET balance = 0")
			return err
		},
		Call: func(ctx context.Context, db *sql.DB) error {
			err := floortest.Transfer(ctx, db)
			var one, two int
			if qerr := onerow.QueryRow(t.Context(), plain, "SELECT MIN(balance), MAX(balance) FROM account", nil, &one, &two); qerr != nil {
				return qerr
			}
			switch {
			case one != two:
				t.Errorf("half a transaction: %d, %d after %v", one, two, err)
			case err == nil && one != 1:
				t.Errorf("%d times instead of once", one)
			case errors.Is(err, onerow.ErrOutcomeUnknown) && onerow.Retryable(err):
				t.Errorf("retryable: %v", err)
			case err != nil && !errors.Is(err, onerow.ErrOutcomeUnknown) && one != 0:
				t.Errorf("it happened, and the answer was %v", err)
			}
			switch {
			case err == nil:
				ok++
			case errors.Is(err, onerow.ErrOutcomeUnknown):
				unknown++
			default:
				failed++
			}
			// The next call of this workflow starts again from nothing.
			dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
			return err
		},
	})
	if report.FaultPoints < 35 || unknown < 2 || failed < 2 || ok < report.FaultPoints {
		t.Errorf("%s: %d unknown, %d failed, %d ok", report, unknown, failed, ok)
	}
}

// TestTokenTx: with a token the lost COMMIT is told from a lost attempt, so a call never says that it does
// not know.
func TestTokenTx(t *testing.T) {
	db, dsn := floortest.Accounts(t)
	dbtest.Exec(t, db, "CREATE TABLE token (id VARBINARY(16) PRIMARY KEY) ENGINE=InnoDB")
	n := 0
	crashtest.Run(t, crashtest.Workflow{
		DSN: dsn,
		Setup: func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "DELETE FROM token")
			if err == nil {
				_, err = db.ExecContext(ctx, "UPDATE account SET balance = 0")
			}
			return err
		},
		Once:   true,
		Tables: []string{"account"},
		Call: func(ctx context.Context, db *sql.DB) error {
			n++
			token := fmt.Sprint(n)
			err := onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO token VALUES (?)", token)
				var my *mysql.MySQLError
				if errors.As(err, &my) && my.Number == 1062 {
					return nil // that was me
				}
				if err == nil {
					_, err = tx.ExecContext(ctx, floortest.Add, 1)
				}
				return err
			})
			stopped := err != nil && strings.Contains(err.Error(), "this process has stopped") // nobody is told what it found out
			if errors.Is(err, onerow.ErrOutcomeUnknown) && ctx.Err() == nil && !stopped {
				t.Errorf("%v", err)
			}
			return err
		},
	})
}

// TestCancelled: nothing is left behind, nothing runs again, and the cause is in the error.
func TestCancelled(t *testing.T) {
	db, _ := floortest.Accounts(t)
	cause := errors.New("the user went home")
	for name, when := range map[string]func(ctx context.Context, tx *onerow.Tx, cancel func()) error{
		"before a statement": func(ctx context.Context, tx *onerow.Tx, cancel func()) error {
			cancel()
			_, err := tx.ExecContext(ctx, floortest.Add, 1)
			return err
		},
		"before COMMIT": func(ctx context.Context, tx *onerow.Tx, cancel func()) error {
			_, err := tx.ExecContext(ctx, floortest.Add, 1)
			cancel()
			return err
		},
		"in a pause": func(_ context.Context, _ *onerow.Tx, cancel func()) error {
			cancel()
			return &mysql.MySQLError{Number: 1213}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			runs := 0
			err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				runs++
				return when(ctx, tx, func() { cancel(cause) })
			})
			if err == nil || runs != 1 || errors.Is(err, onerow.ErrOutcomeUnknown) || !errors.Is(err, cause) && !errors.Is(err, context.Canceled) {
				t.Errorf("%v after %d runs", err, runs)
			}
			if strings.Contains(err.Error(), "ROLLBACK failed") {
				t.Errorf("noise: %v", err)
			}
			floortest.WantBalances(t, db, "0,0")
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := onerow.InTx(ctx, db, func(context.Context, *onerow.Tx) error { t.Error("it was run"); return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestWaitIsCancelled: a deadline ends a wait for a lock.
func TestWaitIsCancelled(t *testing.T) {
	db, _ := floortest.Accounts(t)
	other, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, other, floortest.Add, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		_, err := tx.ExecContext(ctx, floortest.Add, 1)
		return err
	})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 10*time.Second {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	dbtest.Eventually(t, 10*time.Second, func() (bool, string) {
		_, err := db.ExecContext(t.Context(), floortest.Add, 1)
		return err == nil, fmt.Sprint(err)
	})
	floortest.WantBalances(t, db, "1,0")
}
