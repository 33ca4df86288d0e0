package r37

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe37(t *testing.T) {
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Calls: request(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Calls: request(Solution)},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Calls: request(Onerow)},
		AsOnce:   true,
		ByCrash:  true,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

func request(call func(context.Context, *sql.DB, string) error) []kitchen.Call {
	return []kitchen.Call{func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "r-1") }}
}

func statements(t *testing.T) []string {
	t.Helper()
	return kitchen.Statements(t, "schema.sql")
}
