package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/idempotency"
)

// naive are the twins: what people write. crashtest must catch each.
func naive() []verb {
	empty := func(context.Context, *sql.DB) (c idempotency.Claim, err error) { return c, nil }
	inTx := func(ctx context.Context, db *sql.DB, fn func(tx *sql.Tx) error) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	}
	insert := func(ctx context.Context, db onerow.DB, status string) error {
		_, err := db.ExecContext(ctx, `INSERT INTO onerow_key (tenant, operation, idem_key, status, token, call_token, locked_by, created_at, locked_at)
			VALUES ('', 'o', 'a', ?, 1, '0123456789abcdef', '', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, status)
		return err
	}
	known := func(ctx context.Context, db onerow.DB) (n int, err error) {
		err = onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM onerow_key", nil, &n)
		return n, err
	}
	work := func(ctx context.Context, db onerow.DB) error {
		_, err := db.ExecContext(ctx, "UPDATE account SET balance = balance + 5 WHERE id = 1")
		return err
	}
	return []verb{
		{"the effect, then the key, in two transactions", empty, func(ctx context.Context, db *sql.DB, _ idempotency.Claim) error {
			if n, err := known(ctx, db); err != nil || n > 0 {
				return err
			}
			return errors.Join(work(ctx, db), insert(ctx, db, "complete"))
		}, false, 0, nil},
		{"marked as seen before the work", empty, func(ctx context.Context, db *sql.DB, _ idempotency.Claim) error {
			if n, err := known(ctx, db); err != nil || n > 0 {
				return err
			}
			if err := insert(ctx, db, "complete"); err != nil {
				return err
			}
			return inTx(ctx, db, func(tx *sql.Tx) error { return work(ctx, tx) })
		}, false, 0, nil},
		{"one transaction, the duplicate is an error", empty, func(ctx context.Context, db *sql.DB, _ idempotency.Claim) error {
			return inTx(ctx, db, func(tx *sql.Tx) error {
				if err := insert(ctx, tx, "complete"); err != nil {
					return err
				}
				return work(ctx, tx)
			})
		}, true, 0, nil},
	}
}

// TestNaiveTwinsAreCaught is the negative control of TestCrash.
func TestNaiveTwinsAreCaught(t *testing.T) {
	_, dsn := open(t)
	shows := []string{"\ntable account", "\ntable account", "Error 1062"}
	for i, v := range naive() {
		t.Run(v.name, func(t *testing.T) {
			_, err := crashtest.Explore(t.Context(), workflow(v, dsn))
			var failures *crashtest.Failures
			if !errors.As(err, &failures) {
				t.Fatalf("not caught: %v", err)
			}
			if first := failures.List[0].String(); !strings.Contains(first, shows[i]) {
				t.Errorf("the first failure does not show %q:\n%s", shows[i], first)
			}
			t.Logf("caught: %.300s", err.Error())
		})
	}
}
