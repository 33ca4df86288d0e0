package cascade

import (
	"testing"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

// TestTriggerTakesTheRoot: a trigger of the rows below may take the root's row with the last of them; the job ends, and
// leaves nothing below another edge.
func TestTriggerTakesTheRoot(t *testing.T) {
	db := dbtest.Open(t)
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range []string{
		"CREATE TABLE orders (id BIGINT PRIMARY KEY) ENGINE=InnoDB",
		"CREATE TABLE line (id BIGINT PRIMARY KEY, order_id BIGINT NOT NULL, KEY order_id (order_id)) ENGINE=InnoDB",
		"CREATE TABLE parcel (id BIGINT PRIMARY KEY, order_id BIGINT NOT NULL, KEY order_id (order_id)) ENGINE=InnoDB",
		`CREATE TRIGGER last_line AFTER DELETE ON line FOR EACH ROW
DELETE FROM orders WHERE id = OLD.order_id AND NOT EXISTS (SELECT 1 FROM line WHERE order_id = OLD.order_id)`,
		"INSERT INTO orders VALUES (1), (2), (3)",
		"INSERT INTO line VALUES (1, 1), (2, 1), (3, 2), (4, 3)",
		"INSERT INTO parcel VALUES (1, 1), (2, 3)",
	} {
		dbtest.Exec(t, db, stmt)
	}
	above := []schema.Edge{{Table: "orders", Columns: []string{"order_id"}}}
	plan := schema.Plan{Tables: []schema.Table{{Name: "orders", Key: []string{"id"}}, {Name: "line", Key: []string{"id"}, Parents: above}, {Name: "parcel", Key: []string{"id"}, Parents: above}}}
	w, err := NewWorker(db, plan, Config{ClaimJobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"1", "2"} {
		if _, err := queue.Enqueue(t.Context(), db, queue.Deletion{Resource: "orders", ResourceID: id}); err != nil {
			t.Fatal(err)
		}
	}
	drain(t, w)
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_job_archive WHERE state = 'done'"); n != 2 {
		t.Errorf("%d of 2 jobs are done", n)
	}
	if got := [3]string{left(t, db, "orders"), left(t, db, "line"), left(t, db, "parcel")}; got != [3]string{"3", "4", "2"} {
		t.Errorf("left: %q", got)
	}
}
