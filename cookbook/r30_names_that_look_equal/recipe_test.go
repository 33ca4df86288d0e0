package r30

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
	"github.com/onerow/onerow/onerowtest"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe30(t *testing.T) {
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Calls: two(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Calls: two(Solution)},
		Onerow:   kitchen.Side{Plan: plan, Calls: two(Onerow)},
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

// two people make a page, and spell its name in different ways.
func two(call func(context.Context, *sql.DB, string, string) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "ann-1", "Home") },
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "bob-1", " HOME ") },
	}
}

// Names that the two do not agree about: the collation leaves accents out, names.KindName does not.
func TestSpellings(t *testing.T) {
	for side, call := range map[string]func(context.Context, *sql.DB, string, string) error{"solution": Solution, "onerow": Onerow} {
		db := onerowtest.DB(t, schema.Plan{}, kitchen.Statements(t, "schema.sql")...)
		if side == "onerow" {
			db = onerowtest.DB(t, plan)
		}
		for _, c := range []struct {
			name             string
			solution, onerow error
		}{
			{"Home", nil, nil}, {"HOME", ErrTaken, ErrTaken}, {"Hôme", ErrTaken, nil},
			{"Home  page", nil, nil}, {"Home page", nil, ErrTaken},
		} {
			want := map[string]error{"solution": c.solution, "onerow": c.onerow}[side]
			if err := call(t.Context(), db, "request of "+c.name, c.name); !errors.Is(err, want) {
				t.Errorf("%s: %q: %v, want %v", side, c.name, err, want)
			}
		}
	}
}
