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

// TestEndedMeanwhile: a job that ends while a restore waits for it is found where it is then.
func TestEndedMeanwhile(t *testing.T) {
	db, job := deletedBlog(t, blogs)
	const columns = "id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at"
	dbtest.Exec(t, db, "INSERT INTO onerow_job ("+columns+") SELECT "+columns+" FROM onerow_job_archive")
	dbtest.Exec(t, db, "DELETE FROM onerow_job_archive")
	dbtest.Exec(t, db, "UPDATE onerow_job SET state = 'running', worker = 'w'")
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, tx, "UPDATE onerow_job SET batch_seq = batch_seq + 1") // the worker's last batch
	done := make(chan error, 1)
	go func() {
		_, _, err := recover.Job(t.Context(), db, blogs, job.ID, recover.Options{})
		done <- err
	}()
	dbtest.AwaitLock(t, db)
	dbtest.Exec(t, tx, "INSERT INTO onerow_job_archive ("+columns+", finished_at) SELECT id, resource, resource_id, deletion_id, 'done', due_at, token, batch_seq, failures, created_at, UTC_TIMESTAMP(6) FROM onerow_job")
	dbtest.Exec(t, tx, "DELETE FROM onerow_job")
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := blogRows(t, db); got != "blog 2, page 3, note 7, link 3, of a 2" {
		t.Errorf("back are %s", got)
	}
}
