package r09

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/onerowtest"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

var onerowRows = []string{
	"INSERT INTO account (id, created_at, updated_at) VALUES (7, '2026-01-01', '2026-01-01')",
	"INSERT INTO event (id, account_id, created_at, updated_at) VALUES (1, 7, '2026-01-01', '2026-01-01')",
}

func TestRecipe09(t *testing.T) {
	rows := []string{"INSERT INTO account (id) VALUES (7)", "INSERT INTO event (id, account_id) VALUES (1, 7), (2, 7), (3, 7)"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Setup: rows, Calls: []kitchen.Call{Naive, NaiveAdd}},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: rows, Calls: []kitchen.Call{both(Solution, Work), Add}},
		Onerow: kitchen.Side{
			Plan: plan, Calls: []kitchen.Call{Onerow, OnerowAdd}, Setup: onerowRows, // the worker's crashes are tested with it
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

// Whether the event comes before the deletion or behind it, the worker leaves none.
func TestWork(t *testing.T) {
	for name, calls := range map[string][]kitchen.Call{"added before": {OnerowAdd, Onerow}, "added behind": {Onerow, OnerowAdd}} {
		db := onerowtest.DB(t, plan, onerowRows...)
		for _, call := range append(calls, OnerowWork) {
			if err := call(t.Context(), db); err != nil && !errors.Is(err, ErrGone) {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM event"); n > 0 {
			t.Errorf("%s: %d events are left", name, n)
		}
	}
}
