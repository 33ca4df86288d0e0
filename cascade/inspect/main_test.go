package inspect

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var forest = foresttest.Plan()

// openWith is a database with the toolkit's tables and what the statements make.
func openWith(t testing.TB, stmts ...string) *sql.DB {
	t.Helper()
	db := dbtest.Open(t)
	dbtest.Toolkit(t, db, dbtest.OfQueue()...)
	for _, stmt := range stmts {
		dbtest.Exec(t, db, stmt)
	}
	return db
}

// enqueue queues the cascade of a row.
func enqueue(t testing.TB, db *sql.DB, resource, id string, grace time.Duration) queue.Job {
	t.Helper()
	job, err := queue.Enqueue(t.Context(), db, queue.Deletion{Resource: resource, ResourceID: id, Grace: grace})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// noAssets is a store without objects.
type noAssets struct{}

func (noAssets) Delete(context.Context, []string) error { return nil }

// drain has a worker work all that is due.
func drain(t testing.TB, db *sql.DB, plan schema.Plan, c cascade.Config) {
	t.Helper()
	if c.Assets == nil {
		c.Assets = noAssets{}
	}
	w, err := cascade.NewWorker(db, plan, c)
	if err == nil {
		err = w.Drain(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// get is a job as it is now.
func get(t testing.TB, db *sql.DB, id int64) queue.Job {
	t.Helper()
	job, err := queue.Get(t.Context(), db, id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}
