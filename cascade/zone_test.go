package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/zonetest"
)

// TestClocks: what the verbs and the worker write is UTC whatever the session's time zone.
func TestClocks(t *testing.T) {
	zonetest.Clocks(t, func(t *testing.T, zone dbtest.Option) (*sql.DB, []crashtest.Workflow) {
		dsn := dbtest.DSN(t, zone)
		db := dbtest.OpenDSN(t, dsn)
		plant(t, db)
		ready := mapped(t, dsn, forest)
		work := func(ctx context.Context, db *sql.DB, failures int) error {
			w, err := NewWorker(db, forest, Config{Name: "w", Assets: &shelf{}, MaxFailures: failures, Lease: time.Hour})
			if err != nil {
				return err
			}
			ready(w)
			_, err = w.RunOnce(ctx)
			return err
		}
		put := func(resource, state string, more ...string) func(context.Context, *sql.DB) error {
			return func(ctx context.Context, db *sql.DB) error {
				return execAll(ctx, db, append([]string{putJob(resource, state, "0 SECOND")}, more...)...)
			}
		}
		broken := put("project", "ready", "UPDATE onerow_job SET resource_id = 'nonsense'")
		d := queue.Deletion{ID: 5, Resource: "project", ResourceID: "1", Owner: "7", From: "active", Grace: 2 * time.Hour}
		enqueued := func(ctx context.Context, db *sql.DB) error {
			_, lerr := queue.Log(ctx, db, d)
			_, err := queue.Enqueue(ctx, db, d)
			return errors.Join(lerr, err)
		}
		all := []crashtest.Workflow{
			{Name: "enqueue", Call: enqueued},
			{Name: "enqueue an earlier one", Setup: enqueued, Call: func(ctx context.Context, db *sql.DB) error {
				earlier := d
				earlier.Grace = time.Hour
				_, err := queue.Enqueue(ctx, db, earlier)
				return err
			}},
			{Name: "enqueue many", Call: func(ctx context.Context, db *sql.DB) error {
				_, _, err := queue.EnqueueMany(ctx, db, []queue.Deletion{d})
				return err
			}},
			{Name: "cancel", Setup: enqueued, Call: func(ctx context.Context, db *sql.DB) error { return queue.Cancel(ctx, db, "project", "1", 5) }},
			{Name: "hold", Setup: enqueued, Call: func(ctx context.Context, db *sql.DB) error { return queue.Hold(ctx, db, "project", "1", 5, "why") }},
			{Name: "pause", Call: func(ctx context.Context, db *sql.DB) error { return admin.Pause(ctx, db, "", "why") }},
			{Name: "pause a resource", Call: func(ctx context.Context, db *sql.DB) error { return admin.Pause(ctx, db, "project", "why") }},
			{Name: "resume", Setup: func(ctx context.Context, db *sql.DB) error { return admin.Pause(ctx, db, "", "why") },
				Call: func(ctx context.Context, db *sql.DB) error { return admin.Resume(ctx, db, "") }},
			{Name: "a failure", Setup: broken, Call: func(ctx context.Context, db *sql.DB) error { return work(ctx, db, 5) }},
			{Name: "the last failure", Setup: broken, Call: func(ctx context.Context, db *sql.DB) error { return work(ctx, db, 1) }},
			{Name: "retry", Setup: put("project", "dead", moveColumns+"UTC_TIMESTAMP(6) FROM onerow_job", "DELETE FROM onerow_job"),
				Call: func(ctx context.Context, db *sql.DB) error {
					_, err := queue.Retry(ctx, db, 1)
					return err
				}},
			{Name: "a cascade", Setup: smallForest, Call: func(ctx context.Context, db *sql.DB) error { return work(ctx, db, 5) }, Check: smallCounts},
			{Name: "a claim", Setup: put("note", "ready"), Call: func(ctx context.Context, db *sql.DB) error {
				w, err := NewWorker(db, forest, Config{Name: "w", Assets: &shelf{}, Lease: time.Hour})
				if err != nil {
					return err
				}
				ready(w)
				c, err := w.claim(ctx, w.cfg.ClaimJobs)
				if err == nil && len(c.Jobs) != 1 {
					err = fmt.Errorf("claimed %+v", c.Jobs)
				}
				return err
			}},
		}
		for i := range all {
			all[i].Empty = complete(crashtest.Workflow{}, dsn).Empty
		}
		return db, all
	})
}

// TestTimesInEachZone: a job is due, and a worker gone, a minute after its time, and not a minute before.
func TestTimesInEachZone(t *testing.T) {
	zonetest.Each(t, func(t *testing.T, zone dbtest.Option) {
		db, ctx := openForest(t, zone), t.Context()
		w := quiet(t, worker(t, db, Config{Name: "w"}))
		early, late := condemn(t, db, 1, time.Minute), condemn(t, db, 2, time.Hour)
		dbtest.Exec(t, db, "UPDATE onerow_job SET due_at = due_at - INTERVAL 61 MINUTE WHERE id = ?", late.ID)
		for id, want := range map[int64]queue.State{early.ID: queue.Scheduled, late.ID: queue.Ready} {
			if got := get(t, db, id); got.State != want {
				t.Errorf("%+v, want %s", got, want)
			}
		}
		dbtest.Exec(t, db, `INSERT INTO onerow_worker (name, started_at, seen_at, throttle, job_id, beats)
SELECT name, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL minutes MINUTE, '', NULL, 1 FROM (SELECT 'here' AS name, 0 AS minutes UNION ALL SELECT 'away', 59 UNION ALL SELECT 'gone', 61) AS x`)
		stats, err := admin.ReadStats(ctx, db)
		if err != nil || stats.Open[queue.Scheduled] != 1 || stats.Open[queue.Ready] != 1 || stats.OldestAge < time.Minute || stats.OldestAge > 10*time.Minute || stats.Workers != 1 {
			t.Errorf("%+v, %v", stats, err)
		}
		if err := w.governor.Tidy(ctx); err != nil {
			t.Error(err)
		}
		if n := count(t, db, "SELECT COUNT(*) FROM onerow_worker WHERE name IN ('here', 'away')"); n != 2 || count(t, db, "SELECT COUNT(*) FROM onerow_worker") != 2 {
			t.Errorf("%d workers stay of the two that were seen", n)
		}
		for _, act := range []func(deletion queue.Job) error{
			func(j queue.Job) error { return queue.Cancel(ctx, db, j.Resource, j.ResourceID, j.DeletionID) },
			func(j queue.Job) error { return queue.Hold(ctx, db, j.Resource, j.ResourceID, j.DeletionID, "why") },
		} {
			if err := act(get(t, db, late.ID)); !errors.Is(err, queue.ErrTooLate) {
				t.Errorf("after its grace period: %v", err)
			}
		}
		c, err := w.claim(ctx, w.cfg.ClaimJobs)
		if err != nil || len(c.Jobs) != 1 || c.Jobs[0].ID != late.ID {
			t.Errorf("claimed %+v, %v", c.Jobs, err)
		}
		if err := queue.Cancel(ctx, db, "project", "1", early.DeletionID); err != nil {
			t.Errorf("before the grace period's end: %v", err)
		}
	})
}
