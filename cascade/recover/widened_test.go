package recover_test

import (
	"testing"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

// TestRestoreAboveWidened: a foreign key whose index has a further column, which is NULL, holds nothing on
// MySQL 9.7, which takes a row whose row above is not there.
func TestRestoreAboveWidened(t *testing.T) {
	db, ctx := dbtest.Open(t), t.Context()
	plan := schema.Plan{Trash: schema.Age(time.Hour), Tables: []schema.Table{{Name: "top", Key: []string{"id"}},
		{Name: "low", Key: []string{"id"}, Parents: []schema.Edge{{Table: "top", Columns: []string{"top_id"}}}}}}
	if err := migrations.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range []string{"CREATE TABLE top (id INT PRIMARY KEY)",
		"CREATE TABLE low (id INT PRIMARY KEY, top_id INT NULL, gone DATETIME NULL, KEY top (top_id, gone), FOREIGN KEY (top_id) REFERENCES top (id))",
		"INSERT INTO top VALUES (1)", "INSERT INTO low VALUES (2, 1, NULL)"} {
		dbtest.Exec(t, db, stmt)
	}
	if err := createTrash(ctx, db, plan); err != nil {
		t.Fatal(err)
	}
	job, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "low", ResourceID: "2"})
	if err != nil {
		t.Fatal(err)
	}
	w, err := cascade.NewWorker(db, plan, cascade.Config{MaxFailures: 1})
	if err == nil {
		err = w.Drain(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "DELETE FROM top")
	wantMissing(t, restored(t, db, plan, job), "is not there", "low 1 0 : row 2: ")
}
