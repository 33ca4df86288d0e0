package cascade

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

// openWith is a database with the toolkit's tables and what the statements make.
func openWith(t testing.TB, stmts ...string) *sql.DB {
	t.Helper()
	db := dbtest.Open(t)
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range stmts {
		dbtest.Exec(t, db, stmt)
	}
	return db
}

// pair is b below a.
var pair = schema.Plan{Tables: []schema.Table{{Name: "a", Key: []string{"id"}},
	{Name: "b", Key: []string{"id"}, Parents: []schema.Edge{{Table: "a", Columns: []string{"a_id"}}}}}}

var pairDDL = []string{"CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY, a_id INT, KEY (a_id))", "INSERT INTO a VALUES (1)"}

func pairWorker(t *testing.T, c Config) (*Worker, queue.Job) {
	t.Helper()
	db := openWith(t, pairDDL...)
	w, err := NewWorker(db, pair, c)
	if err != nil {
		t.Fatal(err)
	}
	return w, begin(t, db, "a", "1")
}

// TestJobOfAnotherPlan: a worker whose plan lacks the resource leaves the job to others, and
// works its own although others have waited longer.
func TestJobOfAnotherPlan(t *testing.T) {
	w, job := pairWorker(t, Config{ClaimJobs: 1})
	for range candidatesPerJob + 1 {
		dbtest.Exec(t, w.db, "INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at) SELECT 'z', COUNT(*), 0, 'ready', '2001-01-01', '2001-01-01' FROM onerow_job")
	}
	drain(t, w)
	if got := get(t, w.db, job.ID); got.State != queue.Done {
		t.Errorf("%+v", got)
	}
	if n := count(t, w.db, "SELECT COUNT(*) FROM onerow_job WHERE state = 'ready' AND token = 0 AND failures = 0"); n != candidatesPerJob+1 {
		t.Errorf("%d jobs of another plan are as they were", n)
	}
}

// TestPlanDoesNotFit: that the tables are not as the plan says is no failure of a job that was
// not begun, but the worker says so; one that was begun drifts.
func TestPlanDoesNotFit(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		w, job := pairWorker(t, Config{MaxFailures: 1})
		dbtest.Exec(t, w.db, "ALTER TABLE b CHANGE a_id a_ref INT")
		if _, err := w.RunOnce(t.Context()); err == nil || !strings.Contains(err.Error(), "verify") || errors.Is(err, fault.ErrDrift) {
			t.Errorf("the round: %v", err)
		}
		if got := get(t, w.db, job.ID); got.State != queue.Ready || got.Failures != 0 || !strings.Contains(got.LastError, "a_id") {
			t.Errorf("%+v", got)
		}
		dbtest.Exec(t, w.db, "ALTER TABLE b CHANGE a_ref a_id INT")
		makeDue(t, w.db, job.ID)
		drain(t, w)
		if got := get(t, w.db, job.ID); got.State != queue.Done {
			t.Errorf("put right: %+v", got)
		}
	})
	t.Run("begun", func(t *testing.T) {
		t.Parallel()
		var w *Worker
		c := Config{Chunk: 1, Batch: 1}
		c.Progress, c.OnEvent = true, progressed(func(job queue.Job) {
			if job.State.Open() && w.graphCache.read != (time.Time{}) {
				dbtest.Exec(t, w.db, "ALTER TABLE b CHANGE a_id a_ref INT")
				w.graphCache.read = time.Time{}
			}
		})
		var job queue.Job
		w, job = pairWorker(t, c)
		dbtest.Exec(t, w.db, "INSERT INTO b VALUES (1, 1), (2, 1), (3, 1)")
		drain(t, w)
		if got := get(t, w.db, job.ID); got.State != queue.Dead || !strings.Contains(got.LastError, fault.ErrDrift.Error()) || !strings.Contains(got.LastError, "a_id") || got.DeletedRows != 1 {
			t.Errorf("%+v", got)
		}
	})
}
