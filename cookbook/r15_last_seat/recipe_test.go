package r15

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe15(t *testing.T) {
	one := []string{"INSERT INTO event (id, free) VALUES (1, 1)"}
	table := kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Refused)
	table.MariaDB11[1] = kitchen.Refused // error 1020: the row has changed since the snapshot
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Setup: one, Calls: two(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: one, Calls: two(Solution)},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Setup: one, Calls: two(Onerow)},
		Table:    table,
		Trace:    sql.LevelRepeatableRead,
	})
}

// two customers want the last seat.
func two(call func(context.Context, *sql.DB, string) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "ann-1") },
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "bob-1") },
	}
}
