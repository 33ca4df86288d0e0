package r12

import (
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cookbook/internal/kitchen"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/onerowtest"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

var onerowRows = []string{
	"INSERT INTO person (id, created_at, updated_at) VALUES (1, '2026-01-01', '2026-01-01')",
	"INSERT INTO visit (person_id, created_at, updated_at) VALUES (1, '2026-01-01', '2026-01-01')",
	"INSERT INTO note (author_id, created_at, updated_at) VALUES (1, '2026-01-01', '2026-01-01')",
}

func TestRecipe12(t *testing.T) {
	rows := []string{"INSERT INTO person (id) VALUES (1)", "INSERT INTO visit (person_id) VALUES (1), (1)", "INSERT INTO note (author_id) VALUES (1)"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Setup: rows, Calls: []kitchen.Call{Naive, NaiveVisit}},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: rows, Calls: []kitchen.Call{Solution, Visit}, Ignore: []string{"erasure.visits"}},
		Onerow:   kitchen.Side{Plan: plan, Setup: onerowRows, Calls: []kitchen.Call{Onerow, OnerowVisit}}, // the worker's crashes are tested with it
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Refused, kitchen.Refused),
		Trace:    sql.LevelReadCommitted,
	})
}

// The worker deletes what refers to the person, and the report says how much of it.
func TestReport(t *testing.T) {
	db := onerowtest.DB(t, plan, onerowRows...)
	for _, call := range []kitchen.Call{Onerow, OnerowWork} {
		if err := call(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	if n := dbtest.Scan[int](t, db, "SELECT (SELECT COUNT(*) FROM visit) + (SELECT COUNT(*) FROM note) + (SELECT COUNT(*) FROM person)"); n > 0 {
		t.Errorf("%d rows are left", n)
	}
	report, err := admin.ReadReport(t.Context(), db, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if report.Job.DeletedRows != 2 {
		t.Errorf("the report says %d rows", report.Job.DeletedRows)
	}
	if err := OnerowVisit(t.Context(), db); err == nil {
		t.Error("a visit of a person who is erased")
	}
}
