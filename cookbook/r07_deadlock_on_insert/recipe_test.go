package r07

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe07(t *testing.T) {
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Calls: two(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Calls: two(Solution)},
		Onerow:   kitchen.Side{Tables: "schema.sql", Calls: two(Onerow)},
		Answered: true,
		Scripts:  []string{"gap.sql"},
		Table:    kitchen.Same(kitchen.Holds, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

// two people want the same seat.
func two(call func(context.Context, *sql.DB, string) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "ann") },
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "bob") },
	}
}
