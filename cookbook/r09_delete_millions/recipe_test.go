package r09

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe09(t *testing.T) {
	rows := []string{"INSERT INTO account (id) VALUES (7)", "INSERT INTO event (id, account_id) VALUES (1, 7), (2, 7), (3, 7)"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Setup: rows, Calls: []kitchen.Call{Naive, NaiveAdd}},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: rows, Calls: []kitchen.Call{both(Solution, Work), Add}},
		Onerow: kitchen.Side{
			Plan: plan, Calls: []kitchen.Call{both(Onerow, OnerowWork), OnerowAdd},
			Setup: []string{
				"INSERT INTO account (id, created_at, updated_at) VALUES (7, '2026-01-01', '2026-01-01')",
				"INSERT INTO event (id, account_id, created_at, updated_at) VALUES (1, 7, '2026-01-01', '2026-01-01')",
			},
		},
		Table: kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace: sql.LevelRepeatableRead,
	})
}

// both deletes, and works what is left to do.
func both(first, second kitchen.Call) kitchen.Call {
	return func(ctx context.Context, db *sql.DB) error {
		if err := first(ctx, db); err != nil {
			return err
		}
		return second(ctx, db)
	}
}
