package r22

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe22(t *testing.T) {
	rich := []string{"INSERT INTO account (id, balance) VALUES (1, 100), (2, 0)"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Setup: rich, Calls: []kitchen.Call{Naive}},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: rich, Calls: request(Solution)},
		Onerow:   kitchen.Side{Tables: "schema.sql", Setup: rich, Calls: request(Onerow)},
		AsOnce:   true,
		ByCrash:  true,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

func request(call func(context.Context, *sql.DB, string) error) []kitchen.Call {
	return []kitchen.Call{func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "r-1") }}
}
