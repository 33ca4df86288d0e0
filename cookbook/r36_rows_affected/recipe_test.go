package r36

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cookbook/internal/kitchen"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/onerowtest"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

var (
	seven   = []string{"INSERT INTO purchase (id, address) VALUES (7, 'Mill Lane 2')"}
	onerow7 = []string{"INSERT INTO purchase (id, address, created_at, updated_at) VALUES (7, 'Mill Lane 2', '2026-01-01', '2026-01-01')"}
)

func TestRecipe36(t *testing.T) {
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "schema.sql", Setup: seven, Calls: puts(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: seven, Calls: puts(Solution)},
		Onerow:   kitchen.Side{Setup: onerow7, Plan: plan, Calls: puts(Onerow)},
		AsOnce:   true,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

// puts are one request that comes twice.
func puts(call func(context.Context, *sql.DB, int64, string) error) []kitchen.Call {
	return []kitchen.Call{func(ctx context.Context, db *sql.DB) error { return call(ctx, db, 7, "Elm Row 1") }}
}

// An order that is there is found, whether or not its address changes; another one is not. clientFoundRows
// makes the naive code right, and the solutions do not mind it.
func TestFound(t *testing.T) {
	db := map[string]*sql.DB{}
	for _, found := range []string{"false", "true"} {
		db[found] = dbtest.Open(t, dbtest.Param("clientFoundRows", found))
		run(t, db[found], append(kitchen.Statements(t, "schema.sql"), seven...)...)
	}
	toolkit := onerowtest.DB(t, plan)
	run(t, toolkit, onerow7...)
	for _, c := range []struct {
		name string
		db   *sql.DB
		call func(context.Context, *sql.DB, int64, string) error
		want error // of the second call
	}{
		{"naive", db["false"], Naive, ErrNotFound},
		{"naive, clientFoundRows", db["true"], Naive, nil},
		{"solution", db["false"], Solution, nil},
		{"solution, clientFoundRows", db["true"], Solution, nil},
		{"onerow", toolkit, Onerow, nil},
	} {
		for _, step := range []struct {
			order   int64
			address string
			want    error
		}{{7, c.name, nil}, {7, c.name, c.want}, {8, c.name, ErrNotFound}} {
			if err := c.call(t.Context(), c.db, step.order, step.address); !errors.Is(err, step.want) {
				t.Errorf("%s: order %d: %v, want %v", c.name, step.order, err, step.want)
			}
		}
	}
}

// With clientFoundRows an upsert that found the row as it should be counts as one that made it.
func TestUpsert(t *testing.T) {
	for found, want := range map[string]int64{"false": 0, "true": 1} {
		db := dbtest.Open(t, dbtest.Param("clientFoundRows", found))
		run(t, db, append(kitchen.Statements(t, "schema.sql"), seven...)...)
		got, err := onerow.Affected(t.Context(), db, "INSERT INTO purchase (id, address) VALUES (7, 'Mill Lane 2') ON DUPLICATE KEY UPDATE address = 'Mill Lane 2'")
		if got != want || err != nil {
			t.Errorf("clientFoundRows=%s: %d, %v, want %d", found, got, err, want)
		}
	}
}

func run(t *testing.T, db *sql.DB, list ...string) {
	t.Helper()
	for _, query := range list {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
}
