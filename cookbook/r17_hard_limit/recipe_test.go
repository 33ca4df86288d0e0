package r17

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/onerowtest"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

var free = []string{"INSERT INTO account (id, max_projects) VALUES (7, 1)"}

func TestRecipe17(t *testing.T) {
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Calls: two(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: free, Calls: two(Solution)},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Setup: free, Plan: plan, Calls: two(Onerow)},
		Scripts:  []string{"gap.sql"},
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Refused),
		Trace:    sql.LevelRepeatableRead,
	})
}

// two people of one account make a project.
func two(call func(context.Context, *sql.DB, string) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "ann-1") },
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "bob-1") },
	}
}

// A request that comes again at the limit is not refused: it has its project.
func TestRepeat(t *testing.T) {
	for _, c := range []struct {
		name string
		db   *sql.DB
		call func(context.Context, *sql.DB, string) error
	}{
		{"solution", onerowtest.DB(t, schema.Plan{}, kitchen.Statements(t, "schema.sql")...), Solution},
		{"onerow", onerowtest.DB(t, plan, kitchen.Statements(t, "onerow.sql")...), Onerow},
	} {
		if _, err := c.db.ExecContext(t.Context(), free[0]); err != nil {
			t.Fatal(err)
		}
		for _, request := range []string{"ann-1", "ann-1"} {
			if err := c.call(t.Context(), c.db, request); err != nil {
				t.Errorf("%s: %s: %v", c.name, request, err)
			}
		}
		if err := c.call(t.Context(), c.db, "bob-1"); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: a second project: %v", c.name, err)
		}
		if n := dbtest.Scan[int](t, c.db, "SELECT COUNT(*) FROM project"); n != 1 {
			t.Errorf("%s: %d projects", c.name, n)
		}
	}
}

// At READ COMMITTED a count FOR UPDATE locks the projects that exist, so without one it locks nothing.
func TestCountForUpdate(t *testing.T) {
	db := dbtest.Open(t, dbtest.Isolation(sql.LevelReadCommitted))
	for _, query := range kitchen.Statements(t, "naive.sql") {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	var open []*sql.Tx
	for range 2 {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := tx.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM project WHERE account_id = 7 FOR UPDATE").Scan(&n); n > 0 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		open = append(open, tx)
	}
	for _, tx := range open {
		if _, err := tx.ExecContext(t.Context(), "INSERT INTO project (account_id, name) VALUES (7, 'a')"); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM project"); n != 2 {
		t.Errorf("%d projects, want 2: the lock holds after all", n)
	}
}
