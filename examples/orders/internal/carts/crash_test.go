package carts_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/examples/orders/internal/carts"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var (
	tables = []string{"cart", "message", "onerow_flow", "onerow_flow_request", "onerow_flow_step"}
	ignore = []string{"onerow_flow.call_token", "onerow_flow.version", "cart.version", "message.sent"}
)

// A validation, from its message to the answer, fails at every statement and is begun again from its message:
// the cart is validated once, one question and one mail are sent. A message that has to wait is sent again
// once.
func TestSurvivesFaults(t *testing.T) {
	dsn := migrated(t)
	for _, tt := range []struct {
		name  string
		setup func(ctx context.Context, db *sql.DB) error
		call  func(ctx context.Context, db *sql.DB) error
		min   int
	}{
		{"validate", func(context.Context, *sql.DB) error { return nil }, validate, 100},
		{"wait", func(ctx context.Context, db *sql.DB) error {
			_, err := flow.Claim(ctx, db, flow.Run{Flow: "cart/7", RequestID: "other"})
			return err
		}, func(ctx context.Context, db *sql.DB) error {
			taken, err := take(ctx, db)
			if err == nil && taken.Outcome != carts.Waits {
				err = errors.New(string(taken.Outcome))
			}
			return err
		}, 30},
		{"change", func(ctx context.Context, db *sql.DB) error {
			_, err := take(ctx, db)
			return err
		}, change, 60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report := crashtest.Run(t, racetest.Share(crashtest.Workflow{
				DSN:    dsn,
				Empty:  tables,
				Setup:  func(ctx context.Context, db *sql.DB) error { return errors.Join(cart(ctx, db), tt.setup(ctx, db)) },
				Call:   tt.call,
				Tables: tables,
				Ignore: ignore,
			}))
			if report.FaultPoints < racetest.Least(tt.min) {
				t.Errorf("only %d fault points", report.FaultPoints)
			}
		})
	}
}

func cart(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, `INSERT INTO cart (id, tenant, items, status, created_at) VALUES (7, 'ada', '["shoe"]', 'open', UTC_TIMESTAMP(6))`)
	return err
}

// change is the change of the cart, in a transaction as httpkey.OneCommit gives one.
func change(ctx context.Context, db *sql.DB) error {
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		return carts.Change(ctx, tx, store.Cart{ID: 7, Tenant: "ada", Items: changed}, "m2")
	})
}

var changed = []string{"shoe", "hat"}

func take(ctx context.Context, db *sql.DB) (carts.Taken, error) {
	return carts.Take(ctx, db, store.Message{ID: "m1", Body: "cart/7"})
}

func validate(ctx context.Context, db *sql.DB) error {
	taken, err := take(ctx, db)
	if err != nil || taken.Outcome == flow.Done {
		return err
	}
	_, err = carts.Answered(ctx, db, taken.Step, carts.Price([]string{"shoe"}))
	return err
}
