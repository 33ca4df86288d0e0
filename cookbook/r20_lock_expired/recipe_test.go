package r20

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe20(t *testing.T) {
	prices := []string{"INSERT INTO price (id, amount) VALUES (1, 10)", "INSERT INTO price_list (id, amount) VALUES (1, 0)"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive: kitchen.Side{
			Tables: "naive.sql", Calls: two(Naive),
			Setup: append([]string{"INSERT INTO lease (name, holder, until) VALUES ('prices', '', '2026-01-01')"}, prices...),
		},
		Solution: kitchen.Side{
			Tables: "schema.sql", Calls: two(Solution), Ignore: []string{"lease.token", "lease.until"},
			Setup: append([]string{"INSERT INTO lease (name, token, until) VALUES ('prices', 0, '2026-01-01')"}, prices...),
		},
		Onerow: kitchen.Side{Tables: "onerow.sql", Calls: two(Onerow), Setup: prices},
		Judge:  newest,
		Table:  kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:  sql.LevelRepeatableRead,
	})
}

// two workers make the list; before the second one begins the price changes. The lease is so short that it has
// always run out when somebody else asks for it.
func two(call func(context.Context, *sql.DB, string, time.Duration) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "monday", time.Microsecond) },
		func(ctx context.Context, db *sql.DB) error {
			if _, err := db.ExecContext(ctx, "UPDATE price SET amount = 20 WHERE id = 1"); err != nil {
				return err
			}
			return call(ctx, db, "tuesday", time.Microsecond)
		},
	}
}

// newest wants the new price in the list if the worker who saw it was told that the list is made. Who is told
// of a lost or a held lock has nothing to do with what is there.
func newest(ctx context.Context, db *sql.DB, answers []error) error {
	var listed int
	if err := db.QueryRowContext(ctx, "SELECT amount FROM price_list WHERE id = 1").Scan(&listed); err != nil {
		return err
	}
	for _, err := range answers {
		if err != nil && !errors.Is(err, ErrHeld) && !errors.Is(err, ErrLost) {
			return err
		}
	}
	if answers[1] == nil && listed != 20 {
		return fmt.Errorf("the new price is 20, its worker was told that the list is made, and the list says %d", listed)
	}
	return nil
}
