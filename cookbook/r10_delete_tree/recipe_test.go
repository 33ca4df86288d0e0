package r10

import (
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/onerowtest"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

var onerowTree = []string{
	"INSERT INTO folder (id, created_at, updated_at) VALUES (1, '2026-01-01', '2026-01-01')",
	"INSERT INTO folder (id, parent_id, created_at, updated_at) VALUES (2, 1, '2026-01-01', '2026-01-01'), (3, 1, '2026-01-01', '2026-01-01')",
	"INSERT INTO folder (id, parent_id, created_at, updated_at) VALUES (4, 2, '2026-01-01', '2026-01-01')",
}

func TestRecipe10(t *testing.T) {
	tree := []string{"INSERT INTO folder (id) VALUES (1)", "INSERT INTO folder (id, parent_id) VALUES (2, 1), (3, 1)", "INSERT INTO folder (id, parent_id) VALUES (4, 2)"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Setup: tree, Calls: []kitchen.Call{Naive}},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: tree, Calls: []kitchen.Call{Solution}},
		Onerow:   kitchen.Side{Plan: plan, Setup: onerowTree, Calls: []kitchen.Call{Onerow}}, // the worker's crashes are tested with it
		AsOnce:   true,
		ByCrash:  true,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

// The worker leaves nothing of the tree.
func TestWork(t *testing.T) {
	db := onerowtest.DB(t, plan, onerowTree...)
	for _, call := range []kitchen.Call{Onerow, OnerowWork} {
		if err := call(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM folder"); n > 0 {
		t.Errorf("%d folders are left", n)
	}
}
