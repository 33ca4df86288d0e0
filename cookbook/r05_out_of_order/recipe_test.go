package r05

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe05(t *testing.T) {
	open := []string{"INSERT INTO purchase (id, status, status_at) VALUES (7, 'new', 0)"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "schema.sql", Setup: open, Calls: two(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: open, Calls: two(Solution)},
		Onerow:   kitchen.Side{Tables: "schema.sql", Setup: open, Calls: two(Onerow)},
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

// two events are delivered at the same time, to two workers.
func two(call func(context.Context, *sql.DB, string, int64) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "paid", 100) },
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "shipped", 200) },
	}
}
