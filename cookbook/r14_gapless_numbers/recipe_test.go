package r14

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe14(t *testing.T) {
	counter := []string{"INSERT INTO series (name, last_no) VALUES ('invoice', 0)"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Calls: orders(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: counter, Calls: orders(Solution)},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Calls: orders(Onerow)},
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Refused),
		Trace:    sql.LevelRepeatableRead,
	})
}

// orders are two, invoiced at the same moment.
func orders(call func(context.Context, *sql.DB, int64) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, 1) },
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, 2) },
	}
}
