package r06

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe06(t *testing.T) {
	customer := []string{"INSERT INTO customer (id, points) VALUES (7, 0)"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "schema.sql", Setup: customer, Calls: delivered(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: customer, Calls: delivered(Solution)},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Setup: customer, Calls: delivered(Onerow)},
		AsOnce:   true,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

// delivered is one message, given to two workers.
func delivered(call func(context.Context, *sql.DB, string) error) []kitchen.Call {
	return []kitchen.Call{func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "m-1") }}
}
