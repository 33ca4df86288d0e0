package cascade

import (
	"database/sql"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// fallBack rebuilds the queue's table as tools for schema changes do: AUTO_INCREMENT of
// the copy begins above the highest id that is there, far below those of the archive.
func fallBack(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, stmt := range []string{
		"CREATE TABLE copy_of_it LIKE onerow_job", "INSERT INTO copy_of_it SELECT * FROM onerow_job",
		"RENAME TABLE onerow_job TO old_one, copy_of_it TO onerow_job", "DROP TABLE old_one",
	} {
		dbtest.Exec(t, db, stmt)
	}
}

// TestJobIDReused: AUTO_INCREMENT of the queue has fallen below the ids of finished jobs.
// Every end of a new job can be stored, and what the older ones did stays theirs.
func TestJobIDReused(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		var old []queue.Job
		for id := int64(1); id <= 4; id++ {
			grow(t, db, id, 1, 1, 1, 1)
			condemn(t, db, id, 0)
		}
		w := quiet(t, worker(t, db, Config{MaxFailures: 1}))
		drain(t, w)
		for id := int64(1); id <= 4; id++ {
			old = append(old, get(t, db, id))
		}
		dbtest.Exec(t, db, "INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) VALUES (1, 'note', '1', 'x', 'skipped', UTC_TIMESTAMP(6))")
		dbtest.Exec(t, db, "UPDATE onerow_job_plan SET fingerprint = 'another' WHERE job_id = 1")
		old[0] = get(t, db, 1)
		fallBack(t, db)

		want := grow(t, db, 10, 2, 1, 1, 1)
		done := condemn(t, db, 10, 0)
		bad, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "project", ResourceID: "nonsense"})
		if err != nil {
			t.Fatal(err)
		}
		later := condemn(t, db, 11, time.Hour)
		if done.ID != 1 || bad.ID != 2 || later.ID != 3 {
			t.Fatalf("the jobs have the ids %d, %d, %d: nothing is tested", done.ID, bad.ID, later.ID)
		}
		drain(t, w)
		if err := queue.Cancel(ctx, db, "project", "11", later.DeletionID); err != nil {
			t.Error(err)
		}
		if err := queue.Cancel(ctx, db, "project", "11", later.DeletionID); err != nil {
			t.Error(err)
		}
		for i, was := range old {
			if now := get(t, db, was.ID); now.ResourceID != was.ResourceID || now.State != was.State || !maps.Equal(now.Tables, was.Tables) || now.Plan != was.Plan || now.Skipped != was.Skipped {
				t.Errorf("the older job %d was\n%+v and is\n%+v", i+1, was, now)
			}
		}
		for id, state := range map[string]queue.State{"10": queue.Done, "nonsense": queue.Dead, "11": queue.Cancelled} {
			got, err := queue.Find(ctx, db, "project", id)
			if err != nil || got.State != state || got.ID <= 4 || id == "10" && !maps.Equal(got.Tables, want) || id != "10" && got.DeletedRows != 0 {
				t.Errorf("%s: %+v, %v", id, got, err)
			}
		}
		if next := condemn(t, db, 12, 0); next.ID <= 7 {
			t.Errorf("the next job has the id %d: AUTO_INCREMENT was not raised", next.ID)
		}
	})
}

// TestFailedCancelOfReusedJobID: a cancel that fails in a transaction whose owner commits holds its job, and
// leaves the finished job that has the same id in the archive.
func TestFailedCancelOfReusedJobID(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		grow(t, db, 1, 1, 1, 1, 1)
		first := condemn(t, db, 1, 0)
		drain(t, worker(t, db, Config{}))
		finished := get(t, db, first.ID)
		fallBack(t, db)
		later := condemn(t, db, 2, time.Hour)
		if later.ID != first.ID {
			t.Fatalf("the jobs have the ids %d and %d: nothing is tested", first.ID, later.ID)
		}
		dbtest.Exec(t, db, "CREATE TRIGGER refuses BEFORE INSERT ON onerow_job FOR EACH ROW BEGIN IF NEW.resource = '' THEN SIGNAL SQLSTATE '45000'; END IF; END")
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := queue.Cancel(ctx, tx, "project", "2", later.DeletionID); mysqlerr.Number(err) != 1644 {
			t.Errorf("cancel: %v", err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db, "SELECT COUNT(*) FROM onerow_job_archive WHERE id = ? AND deletion_id = ?", first.ID, first.DeletionID); n != 1 {
			t.Error("the finished job is gone")
		}
		if n := count(t, db, "SELECT COUNT(*) FROM onerow_job WHERE id = ? AND state = 'held'", later.ID); n != 1 {
			t.Errorf("the job is not held; the finished one was %+v", finished)
		}
	})
}

// TestRetryOfReusedJobID: a dead job is retried while another row's open job has its id.
func TestRetryOfReusedJobID(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		bad, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "project", ResourceID: "nonsense"})
		if err != nil {
			t.Fatal(err)
		}
		drain(t, quiet(t, worker(t, db, Config{MaxFailures: 1})))
		fallBack(t, db)
		if other := condemn(t, db, 5, time.Hour); other.ID != bad.ID {
			t.Fatalf("the job has the id %d: nothing is tested", other.ID)
		}
		if got, err := queue.Retry(ctx, db, bad.ID); err != nil || got.ResourceID != "nonsense" || got.State != queue.Ready {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := queue.Find(ctx, db, "project", "5"); err != nil || got.ID == bad.ID || got.State != queue.Scheduled {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestHold: a held job is not worked, whenever its grace period ends, until somebody
// cancels it, deletes the row or retries the job; each gives it its own time back.
func TestHold(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		w := worker(t, db, Config{})
		held := func(id int64, grace time.Duration) (queue.Job, time.Time) {
			t.Helper()
			job := condemn(t, db, id, grace)
			was := get(t, db, job.ID).DueAt
			for range 2 { // the second hold gives another reason
				if err := queue.Hold(ctx, db, "project", key(id), job.DeletionID, "why"); err != nil {
					t.Fatal(err)
				}
			}
			if got := get(t, db, job.ID); got.State != queue.Held || !got.DueAt.Equal(was) || got.LastError != "why" || !got.State.Open() {
				t.Fatalf("held: %+v, was due %s", got, was)
			}
			return job, was
		}
		job, due := held(1, time.Hour)
		if got, err := queue.Retry(ctx, db, job.ID); err != nil || got.State != queue.Scheduled || !got.DueAt.Equal(due) {
			t.Errorf("retried: %+v, %v, was due %s", got, err, due)
		}
		job, due = held(2, time.Hour)
		if got, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "project", ResourceID: "2", Grace: 2 * time.Hour}); err != nil || got.ID != job.ID || got.State != queue.Scheduled || !got.DueAt.Equal(due) {
			t.Errorf("deleted with a longer grace period: %+v, %v, was due %s", got, err, due)
		}
		job, due = held(3, time.Hour)
		if _, open, err := queue.EnqueueMany(ctx, db, []queue.Deletion{{Resource: "project", ResourceID: "3", Grace: time.Minute}}); err != nil || open != 1 {
			t.Errorf("%d open, %v", open, err)
		}
		if got := get(t, db, job.ID); got.State != queue.Scheduled || !got.DueAt.Before(due) {
			t.Errorf("deleted with a shorter grace period: %+v", got)
		}
		// The grace period of these ends while they are held.
		job, _ = held(4, time.Hour)
		dbtest.Exec(t, db, "UPDATE onerow_job SET due_at = due_at - INTERVAL 2 HOUR WHERE id = ?", job.ID)
		drain(t, w)
		if stats, err := admin.ReadStats(ctx, db); err != nil || stats.Open[queue.Held] != 1 || stats.OldestAge != 0 {
			t.Errorf("%+v, %v", stats, err)
		}
		if err := queue.Hold(ctx, db, "project", "4", job.DeletionID+1, "x"); !errors.Is(err, queue.ErrTooLate) {
			t.Errorf("of another deletion: %v", err)
		}
		if err := queue.Cancel(ctx, db, "project", "4", job.DeletionID); err != nil {
			t.Error(err)
		}
		if got := get(t, db, job.ID); got.State != queue.Cancelled || got.DueAt.After(time.Now().Add(time.Hour)) {
			t.Errorf("cancelled: %+v", got)
		}
		job, _ = held(5, time.Hour)
		dbtest.Exec(t, db, "UPDATE onerow_job SET due_at = due_at - INTERVAL 2 HOUR WHERE id = ?", job.ID)
		if got, err := queue.Retry(ctx, db, job.ID); err != nil || got.State != queue.Ready {
			t.Errorf("retried after its grace period: %+v, %v", got, err)
		}
		drain(t, w)
		if got := get(t, db, job.ID); got.State != queue.Done {
			t.Errorf("%+v", got)
		}
		if err := queue.Hold(ctx, db, "project", "5", job.DeletionID, "x"); !errors.Is(err, queue.ErrTooLate) {
			t.Errorf("of a job that has ended: %v", err)
		}
	})
}
