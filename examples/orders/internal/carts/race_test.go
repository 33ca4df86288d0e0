package carts_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/examples/orders/internal/carts"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// answered is the price service's answer to the run of message m1, which asked for the old items.
func answered(ctx context.Context, db *sql.DB) error {
	step, err := flow.StepID(flow.Run{Flow: "cart/7", RequestID: "m1"}, "prices")
	if err != nil {
		return err
	}
	_, err = carts.Answered(ctx, db, step, carts.Price([]string{"shoe"}))
	if errors.Is(err, flow.ErrLost) {
		return nil
	}
	return err
}

// redelivered is m1 once more.
func redelivered(ctx context.Context, db *sql.DB) error {
	_, err := take(ctx, db)
	return err
}

var errTotal = errors.New("a changed cart is valid with the old total")

// total: what a changed cart costs, once it is valid, is what its items cost; a changed cart has an owner.
func total(ctx context.Context, db *sql.DB) error {
	c, err := store.CartByID(ctx, db, 7)
	if err != nil || len(c.Items) != len(changed) {
		return err
	}
	if c.Status == store.CartValid && c.Total != carts.Price(c.Items) {
		return fmt.Errorf("%w: %+v", errTotal, c)
	}
	owners, err := flow.Owners(ctx, db, "cart/7")
	if err == nil && (len(owners) != 1 || owners[0].RequestID != "m2") {
		err = fmt.Errorf("owners %+v", owners)
	}
	return err
}

func race(dsn string, calls ...func(context.Context, *sql.DB) error) crashtest.Race {
	return crashtest.Race{
		Workflow: crashtest.Workflow{
			DSN: dsn, Empty: tables, Tables: tables, Ignore: ignore, Check: total,
			Setup: func(ctx context.Context, db *sql.DB) error {
				err := cart(ctx, db)
				if err == nil {
					_, err = take(ctx, db)
				}
				return err
			},
		},
		Calls: calls, Every: 100, Preemptions: 2,
	}
}

// The cart is changed while the old run is answered, or begins again: whoever comes first, no changed cart
// has the old total.
func TestChangedMeanwhile(t *testing.T) {
	for _, level := range racetest.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			dsn := migrated(t, dbtest.Isolation(level))
			t.Run("answered", func(t *testing.T) { crashtest.Interleave(t, race(dsn, change, answered)) })
			t.Run("redelivered", func(t *testing.T) { crashtest.Interleave(t, race(dsn, change, redelivered)) })
		})
	}
}

// The naive twin, which changes the cart and has the message supersede when it comes, is caught.
func TestChangedMeanwhileCatchesTheNaiveTwin(t *testing.T) {
	naive := func(ctx context.Context, db *sql.DB) error {
		err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			return store.ChangeCart(ctx, tx, store.Cart{ID: 7, Tenant: "ada", Items: changed})
		})
		if err == nil {
			_, err = flow.Supersede(ctx, db, flow.Run{Flow: "cart/7", RequestID: "m2"})
		}
		return err
	}
	_, err := crashtest.ExploreRace(t.Context(), race(migrated(t), naive, answered))
	var failures *crashtest.Failures
	if !errors.As(err, &failures) || !strings.Contains(failures.List[0].String(), errTotal.Error()) {
		t.Fatalf("not caught: %v", err)
	}
	t.Logf("%d schedules catch it; the first:\n%s", len(failures.List), failures.List[0])
}

func migrated(t *testing.T, opts ...dbtest.Option) string {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	if err := store.Migrate(t.Context(), dbtest.OpenDSN(t, dsn)); err != nil {
		t.Fatal(err)
	}
	return dsn
}
