package cascade

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

// The tree of the measurements: 100 screens with 100 comments each, and the archive
// tables beside them.
const (
	benchScreens  = 100
	benchComments = 100
)

var benchPlan = schema.Plan{Resources: []schema.Resource{
	{Name: "project", Archive: "project_archive", Owner: "user_id"},
	{Name: "screen", Archive: "screen_archive", Parent: schema.Parent{Resource: "project", Column: "project_id"}},
	{Name: "comment", Parent: schema.Parent{Resource: "screen", Column: "screen_id"}},
}}

func plantBench(b *testing.B, db *sql.DB) {
	b.Helper()
	plantScreens(b, db, benchScreens)
}

func plantScreens(b *testing.B, db *sql.DB, screens int64) {
	b.Helper()
	for screen := int64(1); screen <= screens; screen++ {
		insert(b, db, "screen", map[string]any{"id": screen, "project_id": 1})
	}
	dbtest.Exec(b, db, fmt.Sprintf(`INSERT INTO comment (screen_id, created_at, updated_at)
SELECT s.id, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM screen AS s JOIN (SELECT id FROM screen LIMIT %d) AS x`, benchComments))
}

// BenchmarkCascade deletes 10,100 rows and reports how long it takes against the
// floor: the same rows by hand, two DELETEs in one transaction of the same server,
// without batches, fence and counts.
func BenchmarkCascade(b *testing.B) {
	db := openBench(b)
	w, err := NewWorker(db, benchPlan, Config{})
	if err != nil {
		b.Fatal(err)
	}
	var floor, cascade time.Duration
	for b.Loop() {
		b.StopTimer()
		plantBench(b, db)
		begin := time.Now()
		tx, err := db.BeginTx(b.Context(), nil)
		if err != nil {
			b.Fatal(err)
		}
		dbtest.Exec(b, tx, "DELETE c FROM comment AS c JOIN screen AS s ON s.id = c.screen_id WHERE s.project_id = 1")
		dbtest.Exec(b, tx, "DELETE FROM screen WHERE project_id = 1")
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
		floor += time.Since(begin)
		plantBench(b, db)
		job := condemn(b, db, 1, 0)
		begin = time.Now()
		b.StartTimer()
		drain(b, w)
		b.StopTimer()
		cascade += time.Since(begin)
		if got := get(b, db, job.ID); got.State != queue.Done || got.DeletedRows != benchScreens*(benchComments+1) {
			b.Fatalf("%+v", got)
		}
		b.StartTimer()
	}
	b.ReportMetric(floor.Seconds()/cascade.Seconds(), "share-of-floor")
	b.ReportMetric(float64(b.N*benchScreens*(benchComments+1))/cascade.Seconds(), "rows/s")
}

// BenchmarkQueue enqueues and works jobs that have nothing to delete.
func BenchmarkQueue(b *testing.B) {
	db := openBench(b)
	w, err := NewWorker(db, benchPlan, Config{ClaimJobs: 50})
	if err != nil {
		b.Fatal(err)
	}
	for i := range int64(b.N) {
		if _, err := queue.Enqueue(b.Context(), db, queue.Deletion{Resource: "project", ResourceID: key(i)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	drain(b, w)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

func openBench(b testing.TB) *sql.DB {
	b.Helper()
	db := dbtest.Open(b)
	for _, stmt := range benchPlan.DDL() {
		dbtest.Exec(b, db, stmt)
	}
	if err := migrations.Up(b.Context(), db); err != nil {
		b.Fatal(err)
	}
	return db
}

// TestHeap: jobs that a worker has worked leave nothing in its memory.
func TestHeap(t *testing.T) {
	db := openBench(t)
	w, err := NewWorker(db, benchPlan, Config{})
	if err != nil {
		t.Fatal(err)
	}
	dbtest.HeapStays(t, func(n int) error {
		insert(t, db, "screen", map[string]any{"project_id": n + 1})
		condemn(t, db, int64(n+1), 0)
		_, err := w.RunOnce(t.Context())
		return err
	})
}
