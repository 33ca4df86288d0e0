package cascade

import (
	"context"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestMadeThen: a root that was made in the microsecond in which its deletion was logged is the one that was
// deleted.
func TestMadeThen(t *testing.T) {
	db := openForest(t)
	project(t, db, 1)
	job := condemnFrom(t, db, 1, 0, queue.FromOperator)
	dbtest.Exec(t, db, "UPDATE project SET created_at = (SELECT requested_at FROM onerow_deletion)")
	drain(t, worker(t, db, Config{MaxFailures: 1}))
	if got := get(t, db, job.ID); got.State != queue.Done {
		t.Errorf("%+v", got)
	}
}

// TestSkippedStaysNoted: where a job is done although rows were parked, for somebody else has deleted them, the
// operator's decisions stay on record, and other jobs' rows stay parked.
func TestSkippedStaysNoted(t *testing.T) {
	db := openForest(t)
	project(t, db, 1)
	other, rows := leftovers(t, db, 2, "7")
	job := condemnFrom(t, db, 1, 0, queue.FromOperator)
	parkRows(t, db, job.ID, "note", "1", "2")                                  // which are gone
	dbtest.Exec(t, db, "UPDATE onerow_job SET token = 1 WHERE id = ?", job.ID) // by an earlier attempt
	dbtest.Exec(t, db, "UPDATE onerow_parked SET state = 'skipped' WHERE job_id = ? AND row_key = '2'", job.ID)
	drain(t, worker(t, db, Config{MaxFailures: 1}))
	if got := get(t, db, job.ID); got.State != queue.Done || got.Skipped != 1 || got.Parked != 0 {
		t.Errorf("%+v", got)
	}
	if got := get(t, db, other.ID); got.Parked != int64(len(rows)) {
		t.Errorf("the other job: %+v", got)
	}
}

// TestGivenBack: a worker that is stopped in the midst of a job gives back those that it has not begun.
func TestGivenBack(t *testing.T) {
	db := openForest(t)
	for id := range int64(3) {
		project(t, db, id+1)
		insert(t, db, "screen", map[string]any{"id": id + 1, "project_id": id + 1, "blob_key": "a"})
		condemnFrom(t, db, id+1, 0, queue.FromOperator)
	}
	ctx, stop := context.WithCancel(t.Context())
	w := quiet(t, worker(t, db, Config{ClaimJobs: 3, Lease: time.Hour, Assets: &shelf{hook: func(context.Context, []string) error {
		stop()
		return nil
	}}}))
	if _, err := w.RunOnce(ctx); err != nil {
		t.Fatal(err)
	}
	if held, open := count(t, db, "SELECT COUNT(*) FROM onerow_job WHERE state = 'running'"), count(t, db, "SELECT COUNT(*) FROM onerow_job"); held != 0 || open < 2 {
		t.Errorf("%d of %d open jobs are still the worker's", held, open)
	}
}

// TestLeafMovesMeanwhile: a leaf that moves from one of the small trees to another one, while all are deleted
// together, is counted where it is at its end.
func TestLeafMovesMeanwhile(t *testing.T) {
	db := openForest(t)
	if err := fewTrees(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	w := quiet(t, worker(t, db, Config{}))
	c, err := w.claim(t.Context(), w.cfg.ClaimJobs)
	if err != nil || len(c.Jobs) != 3 {
		t.Fatalf("%d, %v", len(c.Jobs), err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, tx, "UPDATE note SET project_id = 2 WHERE id = 31")
	ended := make(chan int, 1)
	go func() { ended <- w.endSmallJobs(t.Context(), &c) }()
	dbtest.AwaitLock(t, db)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := <-ended; n != 3 {
		t.Fatalf("%d of 3 ended together", n)
	}
	for id, want := range map[int64]int64{2: 3, 3: 2} {
		if got := get(t, db, id); got.State != queue.Done || got.Tables["note"] != want {
			t.Errorf("%+v, want %d notes", got, want)
		}
	}
}
