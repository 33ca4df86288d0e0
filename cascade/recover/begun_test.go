package recover_test

import (
	"database/sql"
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
	reopen(t, db)
	restoredBehind(t, db, job, end)
}

// TestKeptMeanwhile: what a job keeps while a restore waits for it comes back, whether the job has ended by then
// or is at work.
func TestKeptMeanwhile(t *testing.T) {
	for name, then := range map[string]func(testing.TB, *sql.Tx){"ended": end, "at work": func(testing.TB, *sql.Tx) {}} {
		t.Run(name, func(t *testing.T) {
			db, job := deletedBlog(t, blogs)
			reopen(t, db)
			dbtest.Exec(t, db, "CREATE TABLE kept AS SELECT * FROM onerow_trash WHERE step > 0")
			dbtest.Exec(t, db, "DELETE FROM onerow_trash WHERE step > 0")
			restoredBehind(t, db, job, func(t testing.TB, tx *sql.Tx) {
				dbtest.Exec(t, tx, "INSERT INTO onerow_trash SELECT * FROM kept")
				then(t, tx)
			})
		})
	}
}

// columns are those that an open job and one that has ended share.
const columns = "id, resource, resource_id, deletion_id, due_at, token, batch_seq, failures, created_at"

// reopen puts the only job back to work.
func reopen(t testing.TB, db *sql.DB) {
	dbtest.Exec(t, db, "INSERT INTO onerow_job ("+columns+", state, worker) SELECT "+columns+", 'running', 'w' FROM onerow_job_archive")
	dbtest.Exec(t, db, "DELETE FROM onerow_job_archive")
}

// end ends it, as its worker does.
func end(t testing.TB, tx *sql.Tx) {
	dbtest.Exec(t, tx, "INSERT INTO onerow_job_archive ("+columns+", state, finished_at) SELECT "+columns+", 'done', UTC_TIMESTAMP(6) FROM onerow_job")
	dbtest.Exec(t, tx, "DELETE FROM onerow_job")
}

// restoredBehind restores the job while its last batch is under way, and wants all of it back.
func restoredBehind(t *testing.T, db *sql.DB, job queue.Job, batch func(testing.TB, *sql.Tx)) {
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, tx, "UPDATE onerow_job SET batch_seq = batch_seq + 1")
	done := make(chan error, 1)
	go func() {
		_, _, err := recover.Job(t.Context(), db, blogs, job.ID, recover.Options{})
		done <- err
	}()
	dbtest.AwaitLock(t, db)
	batch(t, tx)
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
