package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// The forest, and the settings under which everything must hold, are those of all rooms.
var (
	forest     = foresttest.Plan()
	sessions   = foresttest.Settings()
	each       = foresttest.Each
	openForest = foresttest.Open
	plant      = foresttest.Plant
	insert     = foresttest.Insert
	insertRow  = foresttest.InsertRow
	project    = foresttest.Project
	grow       = foresttest.Grow
	rowsOf     = foresttest.Rows
)

func count(t testing.TB, db onerow.DB, query string, args ...any) (n int64) {
	t.Helper()
	if err := onerow.QueryRow(t.Context(), db, query, args, &n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// moveColumns copies a job into the archive; the time of its end follows.
const moveColumns = `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, worker, batch_seq,
  failures, last_error, created_at, started_at, finished_at)
SELECT id, resource, resource_id, deletion_id, state, due_at, token, worker, batch_seq, failures, last_error, created_at, started_at, `

// belowProject are the resources but the first, their defaults filled in.
func belowProject(t testing.TB) []schema.Resource {
	t.Helper()
	var list []schema.Resource
	for _, name := range forest.Names()[1:] {
		r, err := forest.Resource(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

func sum(rows map[string]int64) (n int64) {
	for v := range maps.Values(rows) {
		n += v
	}
	return n
}

func key(id int64) string { return fmt.Sprint(id) }

// condemn queues the cascade of a project.
func condemn(t testing.TB, db onerow.DB, id int64, grace time.Duration) queue.Job {
	t.Helper()
	return condemnFrom(t, db, id, grace, "active")
}

func condemnFrom(t testing.TB, db onerow.DB, id int64, grace time.Duration, from string) queue.Job {
	t.Helper()
	d := queue.Deletion{Resource: "project", ResourceID: key(id), Owner: "7", From: from, Grace: grace}
	var err error
	if d.ID, err = queue.Log(t.Context(), db, d); err != nil {
		t.Fatal(err)
	}
	job, err := queue.Enqueue(t.Context(), db, d)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func get(t testing.TB, db onerow.DB, id int64) queue.Job {
	t.Helper()
	job, err := queue.Get(t.Context(), db, id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// makeDue takes the job's pause, grace period or lease to its end. A worker may write its last at the same
// time.
func makeDue(t testing.TB, db onerow.DB, id int64) {
	t.Helper()
	err := onerow.Alone(t.Context(), db, func(ctx context.Context, db onerow.DB) error {
		_, err := db.ExecContext(ctx, "UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE id = ?", id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// shelf is an asset store in memory.
type shelf struct {
	mu      sync.Mutex
	deleted map[string]int
	hook    func(ctx context.Context, names []string) error
}

func (s *shelf) Delete(ctx context.Context, names []string) error {
	if s.hook != nil {
		if err := s.hook(ctx, names); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deleted == nil {
		s.deleted = map[string]int{}
	}
	for _, name := range names {
		s.deleted[name]++
	}
	return nil
}

func (s *shelf) names() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.deleted)
}

func worker(t testing.TB, db *sql.DB, c Config) *Worker {
	t.Helper()
	if c.Assets == nil {
		c.Assets = &shelf{}
	}
	w, err := NewWorker(db, forest, c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// quiet is a worker that has read the catalog already, and whose governor asks nothing and
// writes nothing: what it does depends on the time.
func quiet(t testing.TB, w *Worker) *Worker {
	t.Helper()
	if _, err := w.current(t.Context()); err != nil {
		t.Fatal(err)
	}
	still(w)
	return w
}

// mapped gives a worker the catalog as another one has read it, which takes long.
func mapped(t testing.TB, dsn string, plan schema.Plan) func(*Worker) {
	t.Helper()
	w, err := NewWorker(dbtest.OpenDSN(t, dsn), plan, Config{Assets: &shelf{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.current(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.graphCache.read = time.Now().Add(24 * time.Hour)
	return func(other *Worker) {
		other.graphCache = w.graphCache
		still(other)
	}
}

func still(w *Worker) {
	later := time.Now().Add(24 * time.Hour)
	w.governor.Quiet(later)
	w.cfg.Turn = time.Hour
}

func drain(t testing.TB, w *Worker) {
	t.Helper()
	if err := w.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// progressed hears of jobs alone.
func progressed(f func(queue.Job)) func(Event) {
	return func(e Event) {
		if e.Progress != nil {
			f(*e.Progress)
		}
	}
}
