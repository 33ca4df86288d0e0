package r29

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe29(t *testing.T) {
	rows := []string{"INSERT INTO cart (id, run, total) VALUES (1, 'run-1', 0)", "INSERT INTO item (cart_id, price) VALUES (1, 30)"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "schema.sql", Setup: rows, Calls: runs(Naive, Put)},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: rows, Calls: runs(Solution, Put)},
		Onerow: kitchen.Side{
			Tables: "onerow.sql", Calls: runs(Onerow, OnerowPut),
			Setup: []string{"INSERT INTO cart (id, total) VALUES (1, 0)", rows[1]},
		},
		Judge: addedUp,
		Table: kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace: sql.LevelRepeatableRead,
	})
}

// runs are the first one, and a second one that an item in the cart begins.
func runs(add, put func(context.Context, *sql.DB, string) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return add(ctx, db, "run-1") },
		func(ctx context.Context, db *sql.DB) error {
			if err := put(ctx, db, "run-2"); err != nil {
				return err
			}
			return add(ctx, db, "run-2")
		},
	}
}

// addedUp wants the total to be that of the items, and the second run to have been told that it is.
func addedUp(ctx context.Context, db *sql.DB, answers []error) error {
	if answers[0] != nil && !errors.Is(answers[0], ErrReplaced) {
		return answers[0]
	}
	if answers[1] != nil {
		return answers[1]
	}
	var total, sum int
	if err := db.QueryRowContext(ctx, "SELECT total, (SELECT SUM(price) FROM item) FROM cart").Scan(&total, &sum); err != nil {
		return err
	}
	if total != sum {
		return fmt.Errorf("the items are %d together, and the cart says %d", sum, total)
	}
	return nil
}
