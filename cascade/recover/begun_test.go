package recover_test

import (
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestBegunMeanwhile: a job that has kept nothing, and that a worker begins while a restore looks at it, is not
// taken from the worker.
func TestBegunMeanwhile(t *testing.T) {
	db, _ := deletedBlog(t, blogs)
	job, err := queue.Enqueue(t.Context(), db, queue.Deletion{Resource: "blog", ResourceID: "'b", Grace: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, tx, "UPDATE onerow_job SET state = 'running', worker = 'w', token = 1 WHERE id = ?", job.ID)
	done := make(chan error, 1)
	go func() {
		_, _, err := recover.Job(t.Context(), db, blogs, job.ID, recover.Options{})
		done <- err
	}()
	dbtest.AwaitLock(t, db)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, recover.ErrNotKept) {
		t.Error(err)
	}
	if got, err := queue.Get(t.Context(), db, job.ID); err != nil || got.State != queue.Running {
		t.Errorf("%+v, %v", got, err)
	}
}
