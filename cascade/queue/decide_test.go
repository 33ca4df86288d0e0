package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// opened queues the deletion of a project and returns its job.
func opened(t *testing.T, db *sql.DB, id string) Job {
	t.Helper()
	job, err := Enqueue(t.Context(), db, Deletion{Resource: "project", ResourceID: id, From: "active"})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// leftover ends the job of a project in a state, with a parked row, whose id it returns.
func leftover(t *testing.T, db *sql.DB, project, state string) (job, row int64) {
	t.Helper()
	job = opened(t, db, project).ID
	dbtest.EndJob(t, db, job, state)
	dbtest.Exec(t, db, "INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) VALUES (?, 'note', '1', 'e', 'parked', UTC_TIMESTAMP(6))", job)
	return job, dbtest.Scan[int64](t, db, "SELECT MAX(id) FROM onerow_parked")
}

// TestSkipSettles: with the last of its parked rows a job is done that has leftovers: not one that is dead, and
// no other.
func TestSkipSettles(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		job, row := leftover(t, db, "1", "leftovers")
		dead, deadRow := leftover(t, db, "2", "dead")
		other, _ := leftover(t, db, "3", "leftovers")
		for _, id := range []int64{deadRow, row} {
			if _, err := SkipParked(t.Context(), db, id); err != nil {
				t.Fatal(err)
			}
		}
		for id, want := range map[int64]State{job: Done, dead: Dead, other: Leftovers} {
			if got := get(t, db, id).State; got != want {
				t.Errorf("job %d is %s, want %s", id, got, want)
			}
		}
	})
}

// TestRestoreFence: a job that somebody has let go on is no longer the restore's, whatever else is held.
func TestRestoreFence(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		first, other := opened(t, db, "1"), opened(t, db, "2")
		held := func(job Job) (fence func(context.Context, *onerow.Tx) error) {
			t.Helper()
			err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
				_, fence, err = HoldForRestore(ctx, tx, job.ID, func(bool) error { return nil })
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return fence
		}
		fence, second := held(first), held(other)
		holds := func(fence func(context.Context, *onerow.Tx) error, want error) {
			t.Helper()
			if err := onerow.InTx(ctx, db, fence); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		holds(fence, nil)
		holds(second, nil)
		again := held(first)
		holds(fence, ErrWrongState)
		holds(again, nil)
		if _, err := Retry(ctx, db, first.ID); err != nil {
			t.Fatal(err)
		}
		holds(again, ErrWrongState)
		holds(second, nil)
	})
}

// TestClaimLock: of the jobs that are asked for those are locked that this claim has, and nobody had before. It
// reads and gives back its own alone.
func TestClaimLock(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		dbtest.Exec(t, db, `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, worker, token, due_at, created_at) VALUES
(1, 'project', '1', 1, 'running', 'me', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (2, 'project', '2', 1, 'running', 'other', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)),
(3, 'project', '3', 1, 'running', 'me', 2, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (4, 'project', '4', 1, 'paused', 'me', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)),
(5, 'project', '5', 1, 'running', 'me', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
		c := Claim{value: "me"}
		err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			got, err := c.Lock(ctx, tx, []int64{1, 2, 3, 4})
			if len(got) != 1 || !got[1] {
				t.Errorf("locked %v", got)
			}
			if free := count(t, db, "SELECT COUNT(*) FROM (SELECT id FROM onerow_job FORCE INDEX (PRIMARY) WHERE id IN (1, 5) FOR UPDATE SKIP LOCKED) AS free"); free != 1 {
				t.Errorf("another one finds %d of 2 jobs free, want 1", free)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		won := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(id ORDER BY id) FROM ("+sqlWon+in([]int64{1, 2, 3, 4})+") AS won", "me")
		if won != "1,3" {
			t.Errorf("it reads %s as its own", won)
		}
		for id := range int64(4) {
			if err := c.Release(ctx, db, []Claimed{{Job: Job{ID: id + 1}}}); err != nil {
				t.Fatal(err)
			}
		}
		if got := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(state ORDER BY id) FROM onerow_job"); got != "ready,running,ready,paused,running" {
			t.Errorf("after it gave all back: %s", got)
		}
	})
}

// TestKeepNothingOfOne: one deletion that is to keep nothing says nothing of others.
func TestKeepNothingOfOne(t *testing.T) {
	db, ctx := open(t), t.Context()
	opened(t, db, "1")
	d := Deletion{Resource: "project", ResourceID: "2", From: "active", NoTrash: true}
	job, err := Enqueue(ctx, db, d)
	if err != nil {
		t.Fatal(err)
	}
	d.Resource = "screen"
	many, _, err := EnqueueMany(ctx, db, []Deletion{d, {Resource: "screen", ResourceID: "3", From: "active"}})
	if err != nil {
		t.Fatal(err)
	}
	got := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(CONCAT(j.resource, ' ', j.resource_id) ORDER BY j.id) FROM onerow_trash AS t JOIN onerow_job AS j ON j.id = t.job_id WHERE t.step = 0 AND t.expires_at > UTC_TIMESTAMP(6) + INTERVAL 399 DAY")
	if got != "project 2,screen 2" {
		t.Errorf("%s keep nothing; asked for of %d and one of %v", got, job.ID, many)
	}
}

// ended is [finished], of the first n jobs only.
func ended(t *testing.T, db *sql.DB, n int, state, days string) {
	t.Helper()
	if err := finished(t.Context(), db, 1000, state, days); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "DELETE FROM onerow_job_archive WHERE id > ?", n)
	dbtest.Exec(t, db, "DELETE FROM onerow_deletion WHERE id > ?", n)
}

// TestDistinctSince: a job that has ended since the transaction began to look has its id, too.
func TestDistinctSince(t *testing.T) {
	db := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites())
	ctx := t.Context()
	job := opened(t, db, "1")
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		dbtest.Scan[int](t, tx, "SELECT COUNT(*) FROM onerow_job_archive")
		ended(t, db, 1, "'done'", "1")
		if job.ID != 1 {
			t.Fatalf("the first job is %d", job.ID)
		}
		id, err := distinct(ctx, tx, job.ID)
		if id == job.ID {
			t.Errorf("it stays %d, which a finished job has", id)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPurgeLate: a job that was read as one to go, and is dead by now, stays; and while its rows go, nobody
// reopens it.
func TestPurgeLate(t *testing.T) {
	db, ctx := open(t), t.Context()
	ended(t, db, 3, "IF(i = 2, 'dead', 'done')", "400")
	if n, _, err := dropJobs(ctx, db, year, []int64{2}); n != 0 || err != nil {
		t.Errorf("a dead job: %d, %v", n, err)
	}
	dbtest.Exec(t, db, "INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) VALUES (1, 'tag', '1', 'e', 'skipped', UTC_TIMESTAMP(6))")
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, tx, "UPDATE onerow_parked SET error = 'f'")
	done := make(chan error, 1)
	go func() {
		n, err := PurgeJobs(ctx, db, year, 1, false)
		if n != 1 && err == nil {
			t.Errorf("%d purged", n)
		}
		done <- err
	}()
	dbtest.AwaitLock(t, db)
	if free := count(t, db, "SELECT COUNT(*) FROM (SELECT id FROM onerow_job_archive FORCE INDEX (PRIMARY) WHERE id IN (1, 3) FOR UPDATE SKIP LOCKED) AS free"); free != 1 {
		t.Errorf("%d of the job that goes and of another one are free, want 1", free)
	}
	if err := errors.Join(tx.Commit(), <-done); err != nil {
		t.Error(err)
	}
}

// TestPurgePages: jobs that stay, or that ended at one time, are passed by once.
func TestPurgePages(t *testing.T) {
	db := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const stay = 2*purgeBatch + 50
	ended(t, db, stay+1, "IF(i <= 450, 'dead', 'done')", "400")
	dbtest.Exec(t, db, "UPDATE onerow_job_archive SET finished_at = '2020-01-01' WHERE id <= ?", stay)
	dbtest.Exec(t, db, "UPDATE onerow_deletion SET requested_at = '2020-01-01' WHERE id <= ?", stay)
	if n, err := PurgeJobs(ctx, db, year, 1000, false); n != 1 || err != nil {
		t.Errorf("%d jobs, %v", n, err)
	}
	if n, err := PurgeDeletions(ctx, db, year, 1000, false); n != 1 || err != nil {
		t.Errorf("%d audits, %v", n, err)
	}
}

// TestPurgeDeletionsOfOne: an audit waits for jobs of its own row, not for those of others.
func TestPurgeDeletionsOfOne(t *testing.T) {
	db, ctx := open(t), t.Context()
	ended(t, db, 4, "'done'", "400")
	dbtest.Exec(t, db, "UPDATE onerow_job_archive SET resource = IF(id = 1, 'screen', resource), resource_id = IF(id = 2, '200', resource_id)")
	dbtest.Exec(t, db, "DELETE FROM onerow_job_archive WHERE id > 2")
	dbtest.Exec(t, db, "INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at) VALUES (3, 'screen', '3', 3, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (4, 'project', '400', 4, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
	for _, dry := range []bool{true, false} {
		if n, err := PurgeDeletions(ctx, db, year, 10, dry); n != 4 || err != nil {
			t.Errorf("%d of 4, %v", n, err)
		}
	}
}

// TestPurgeActions: old actions go, and are counted first.
func TestPurgeActions(t *testing.T) {
	db, ctx := open(t), t.Context()
	for _, days := range []int{1, 400, 500, 2} {
		dbtest.Exec(t, db, "INSERT INTO onerow_action (action, actor, reason, acted_at) VALUES ('pause', 'a', '', UTC_TIMESTAMP(6) - INTERVAL ? DAY)", days)
	}
	for _, dry := range []bool{true, false} {
		if n, err := PurgeActions(ctx, db, year, 10, dry); n != 2 || err != nil {
			t.Errorf("%d of 2, %v", n, err)
		}
	}
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_action"); n != 2 {
		t.Errorf("%d are left", n)
	}
}

// TestRetryInSnapshot: a retry within a caller's transaction sees the job that was opened for the row since that
// began to look.
func TestRetryInSnapshot(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		dead, _ := leftover(t, db, "1", "dead")
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback() //nolint:errcheck // it ends
		if n := dbtest.Scan[int64](t, tx, "SELECT COUNT(*) FROM onerow_job"); n != 0 {
			t.Fatal(n)
		}
		open := opened(t, db, "1")
		_, err = Retry(t.Context(), tx, dead)
		if !errors.Is(err, ErrOpenJob) || !strings.Contains(err.Error(), fmt.Sprintf("job %d", open.ID)) {
			t.Error(err)
		}
	})
}
