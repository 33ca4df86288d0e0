package cascade

import (
	"fmt"
	"testing"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

// TestIndexSwitchedOff: an index that is INVISIBLE, or IGNORED, is not one to walk along.
func TestIndexSwitchedOff(t *testing.T) {
	db := openWith(t, "CREATE TABLE top (id INT PRIMARY KEY)",
		"CREATE TABLE mid (id INT PRIMARY KEY, top_id INT, x INT, KEY a_old (top_id), KEY b_new (top_id, x))",
		"CREATE TABLE low (id INT PRIMARY KEY, mid_id INT, KEY (mid_id))",
		"INSERT INTO top VALUES (1)", "INSERT INTO mid VALUES (1, 1, 1), (2, 1, 1)", "INSERT INTO low VALUES (1, 1)")
	if _, err := db.ExecContext(t.Context(), "ALTER TABLE mid ALTER INDEX a_old INVISIBLE"); err != nil {
		dbtest.Exec(t, db, "ALTER TABLE mid ALTER INDEX a_old IGNORED")
	}
	plan := schema.Plan{Tables: []schema.Table{{Name: "top", Key: []string{"id"}},
		{Name: "mid", Key: []string{"id"}, Parents: []schema.Edge{{Table: "top", Columns: []string{"top_id"}}}},
		{Name: "low", Key: []string{"id"}, Parents: []schema.Edge{{Table: "mid", Columns: []string{"mid_id"}}}}}}
	if got := finish(t, db, plan, Config{}, begin(t, db, "top", "1").ID); got.State != queue.Done || fmt.Sprint(got.Tables) != "map[low:1 mid:2]" {
		t.Errorf("%+v", got)
	}
}
