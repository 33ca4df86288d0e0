package inspect

import (
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

// TestIndexSwitchedOff: an index that is INVISIBLE, or IGNORED, is not one to count or to search along.
func TestIndexSwitchedOff(t *testing.T) {
	db := openWith(t, "CREATE TABLE top (id INT PRIMARY KEY)",
		"CREATE TABLE mid (id INT PRIMARY KEY, top_id INT, x INT, KEY a_old (top_id), KEY b_new (top_id, x))",
		"INSERT INTO top VALUES (1)", "INSERT INTO mid VALUES (1, 1, 1), (2, 1, 1)")
	if _, err := db.ExecContext(t.Context(), "ALTER TABLE mid ALTER INDEX a_old INVISIBLE"); err != nil {
		dbtest.Exec(t, db, "ALTER TABLE mid ALTER INDEX a_old IGNORED")
	}
	plan := schema.Plan{Tables: []schema.Table{{Name: "top", Key: []string{"id"}},
		{Name: "mid", Key: []string{"id"}, Parents: []schema.Edge{{Table: "top", Columns: []string{"top_id"}}}}}}
	if e, err := DryRun(t.Context(), db, plan, "top", "1", 10_000, nil); err != nil || e.Tables["mid"] != 2 {
		t.Errorf("%+v, %v", e, err)
	}
	if lines, _ := orphansOf(t, db, plan, OrphanOptions{}); lines != nil {
		t.Errorf("%q", lines)
	}
}
