package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// parkRows parks rows of an open job as its worker would.
func parkRows(t testing.TB, db onerow.DB, jobID int64, table string, keys ...string) {
	t.Helper()
	err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		for _, key := range keys {
			if err := work.Park(ctx, tx, jobID, table, key, "it is referred to"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// end ends an open job as a worker's last batch does: the fence, what is parked, the archive.
func end(ctx context.Context, db onerow.DB, jobID int64) (state queue.State, err error) {
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, "UPDATE onerow_job SET batch_seq = batch_seq + 1 WHERE id = ?", jobID)
		if err != nil || n == 0 {
			state = ""
			return err
		}
		parked, _, err := work.ParkedCounts(ctx, tx, jobID)
		if err != nil {
			return err
		}
		state = queue.Done
		if parked > 0 {
			state = queue.Leftovers
		}
		return archiveAs(ctx, tx, jobID, state)
	})
	return state, err
}

func archiveAs(ctx context.Context, tx *onerow.Tx, jobID int64, state queue.State) error {
	for _, step := range []struct {
		query string
		args  []any
	}{
		{"UPDATE onerow_job SET state = ? WHERE id = ?", []any{string(state), jobID}},
		{moveColumns + "UTC_TIMESTAMP(6) FROM onerow_job WHERE id = ?", []any{jobID}},
		{"DELETE FROM onerow_job WHERE id = ?", []any{jobID}},
	} {
		if _, err := tx.ExecContext(ctx, step.query, step.args...); err != nil {
			return err
		}
	}
	return nil
}

// leftovers is a job that has ended but for rows of a table, by their keys, and the ids
// under which those are parked, in order.
func leftovers(t testing.TB, db onerow.DB, root int64, keys ...string) (queue.Job, []int64) {
	t.Helper()
	job := condemn(t, db, root, 0)
	dbtest.Exec(t, db, "INSERT INTO onerow_job_plan VALUES (?, 'print', UTC_TIMESTAMP(6))", job.ID)
	parkRows(t, db, job.ID, "note", keys...)
	if state, err := end(t.Context(), db, job.ID); state != queue.Leftovers || err != nil {
		t.Fatal(state, err)
	}
	list := listParked(t, db, queue.ParkedOptions{JobID: &job.ID})
	ids := make([]int64, len(list))
	for i, p := range list {
		ids[len(ids)-1-i] = p.ID
	}
	return get(t, db, job.ID), ids
}

func listParked(t testing.TB, db onerow.DB, o queue.ParkedOptions) []queue.Parked {
	t.Helper()
	list, err := queue.ListParked(t.Context(), db, o)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestPark(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		job := condemn(t, db, 1, 0)
		for range 2 { // as after an outcome that is unknown
			parkRows(t, db, job.ID, "note", "1", "2")
			parkRows(t, db, job.ID, "tag", "1")
		}
		dbtest.Exec(t, db, "INSERT INTO onerow_job_count VALUES (?, 'a', 2)", job.ID)
		dbtest.Exec(t, db, "INSERT INTO onerow_job_detached VALUES (?, 'b', 3), (?, 'c', 4)", job.ID, job.ID)
		dbtest.Exec(t, db, "INSERT INTO onerow_job_plan VALUES (?, 'print', UTC_TIMESTAMP(6))", job.ID)
		dbtest.Exec(t, db, "UPDATE onerow_parked SET state = 'skipped' WHERE table_name = 'tag'")
		found, err := queue.Find(t.Context(), db, "project", "1")
		if err != nil {
			t.Fatal(err)
		}
		list, err := queue.List(t.Context(), db, queue.ListOptions{})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		for _, got := range []queue.Job{get(t, db, job.ID), found, list[0]} {
			if got.Parked != 2 || got.Skipped != 1 || got.DetachedRows != 7 || got.Detached["c"] != 4 || got.DeletedRows != 2 || got.Plan != "print" || len(got.Tables) != 1 {
				t.Errorf("%+v", got)
			}
		}
		keys, err := work.ParkedKeys(t.Context(), db, job.ID)
		if err != nil || fmt.Sprint(keys) != "map[note:[1 2] tag:[1]]" {
			t.Error(keys, err)
		}
		if parked, all, err := work.ParkedCounts(t.Context(), db, job.ID); parked != 2 || all != 3 || err != nil {
			t.Error(parked, all, err)
		}
		if parked, all, err := work.ParkedCounts(t.Context(), db, 999); parked != 0 || all != 0 || err != nil {
			t.Error(parked, all, err)
		}
	})
}

func TestListParked(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		if list := listParked(t, db, queue.ParkedOptions{}); len(list) != 0 {
			t.Error(list)
		}
		one, ids := leftovers(t, db, 1, "1", "2", "3", "4", "5")
		two := condemn(t, db, 2, 0)
		parkRows(t, db, two.ID, "tag", "'a;b'", string(make([]byte, 512)))
		if _, err := queue.SkipParked(t.Context(), db, ids[1]); err != nil {
			t.Fatal(err)
		}
		for want, o := range map[int]queue.ParkedOptions{7: {}, 5: {JobID: &one.ID}, 4: {JobID: &one.ID, Open: true},
			6: {Open: true, Limit: 5000}, 3: {Limit: 3}, 0: {JobID: new(int64(99))}, 2: {JobID: &two.ID}} {
			if list := listParked(t, db, o); len(list) != want {
				t.Errorf("%+v: %+v", o, list)
			}
		}
		var got []int64
		for after := int64(0); ; {
			page := listParked(t, db, queue.ParkedOptions{JobID: &one.ID, After: after, Limit: 2})
			for _, p := range page {
				got = append(got, p.ID)
				if p.Resource != "project" || p.ResourceID != "1" || p.Table != "note" || p.Error != "it is referred to" || time.Since(p.ParkedAt).Abs() > time.Minute ||
					p.Skipped != (p.ID == ids[1]) {
					t.Errorf("%+v", p)
				}
			}
			if len(page) < 2 {
				break
			}
			after = page[1].ID
		}
		slices.Reverse(got)
		if !slices.Equal(got, ids) {
			t.Errorf("%v, want %v", got, ids)
		}
	})
}

func TestSkipParked(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		job, ids := leftovers(t, db, 1, "1", "2")
		if job.Parked != 2 || job.Plan != "print" {
			t.Errorf("%+v", job)
		}
		if got, err := queue.SkipParked(ctx, db, ids[0]); err != nil || got.State != queue.Leftovers || got.Parked != 1 || got.Skipped != 1 {
			t.Errorf("%+v, %v", got, err)
		}
		for range 2 {
			if got, err := queue.SkipParked(ctx, db, ids[1]); err != nil || got.State != queue.Done || got.Parked != 0 || got.Skipped != 2 || got.ID != job.ID {
				t.Errorf("%+v, %v", got, err)
			}
		}
		if _, err := queue.SkipParked(ctx, db, 4711); !errors.Is(err, onerow.ErrNotFound) {
			t.Error(err)
		}
		open := condemn(t, db, 2, 0)
		parkRows(t, db, open.ID, "note", "9")
		id := listParked(t, db, queue.ParkedOptions{JobID: &open.ID})[0].ID
		if got, err := queue.SkipParked(ctx, db, id); err != nil || got.State != queue.Ready || got.Parked != 0 || got.Skipped != 1 {
			t.Errorf("%+v, %v", got, err)
		}
		if state, err := end(ctx, db, open.ID); state != queue.Done || err != nil {
			t.Error(state, err)
		}
		dbtest.Exec(t, db, "DELETE FROM onerow_job_archive WHERE id = ?", open.ID)
		if _, err := queue.SkipParked(ctx, db, id); !errors.Is(err, queue.ErrNoJob) {
			t.Error(err)
		}
	})
}

func TestRetryParked(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		job, ids := leftovers(t, db, 1, "1", "2")
		dbtest.Exec(t, db, "UPDATE onerow_job_archive SET token = 7, failures = 3")
		got, err := queue.RetryParked(ctx, db, ids[0])
		if err != nil || got.State != queue.Ready || got.Parked != 1 || got.Token != 7 || got.Failures != 0 || got.Plan != "" || got.ID != job.ID {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := queue.RetryParked(ctx, db, ids[0]); !errors.Is(err, onerow.ErrNotFound) {
			t.Error(err)
		}
		if got, err := queue.RetryParked(ctx, db, ids[1]); err != nil || got.State != queue.Ready || got.Parked != 0 { // of an open job
			t.Errorf("%+v, %v", got, err)
		}

		// That a row was skipped can be taken back, too.
		done, ids := leftovers(t, db, 2, "1")
		if got, err := queue.SkipParked(ctx, db, ids[0]); err != nil || got.State != queue.Done {
			t.Fatal(got, err)
		}
		if got, err := queue.RetryParked(ctx, db, ids[0]); err != nil || got.State != queue.Ready || got.ID != done.ID || got.Skipped != 0 {
			t.Errorf("%+v, %v", got, err)
		}

		// Another deletion of the same row is open: nothing changes.
		old, ids := leftovers(t, db, 3, "1")
		newer := condemn(t, db, 3, 0)
		if _, err := queue.RetryParked(ctx, db, ids[0]); !errors.Is(err, queue.ErrOpenJob) || !strings.HasSuffix(err.Error(), fmt.Sprintf(": job %d", newer.ID)) {
			t.Error(err)
		}
		if got := get(t, db, old.ID); got.State != queue.Leftovers || got.Parked != 1 || got.Plan != "print" {
			t.Errorf("%+v", got)
		}
	})
}

func TestRetryLeftovers(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		job, ids := leftovers(t, db, 1, "1", "2", "3")
		if _, err := queue.SkipParked(ctx, db, ids[1]); err != nil {
			t.Fatal(err)
		}
		if list, err := queue.List(ctx, db, queue.ListOptions{State: queue.Leftovers}); err != nil || len(list) != 1 || list[0].Parked != 2 {
			t.Errorf("%+v, %v", list, err)
		}
		got, err := queue.Retry(ctx, db, job.ID)
		if err != nil || got.State != queue.Ready || got.Parked != 0 || got.Skipped != 1 || got.Plan != "" {
			t.Errorf("%+v, %v", got, err)
		}
		if keys, err := work.ParkedKeys(ctx, db, job.ID); err != nil || fmt.Sprint(keys) != "map[note:[2]]" {
			t.Error(keys, err)
		}
		if n := count(t, db, "SELECT COUNT(*) FROM onerow_job_archive"); n != 0 {
			t.Errorf("%d jobs are in the archive", n)
		}
	})
}

// TestParkedRaces: operators who skip and retry the same rows, and the job, while a
// worker ends it, in all orders. A job waits for somebody exactly when one of its rows
// does, whatever became of whom.
func TestParkedRaces(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		for round := range int64(25) {
			job, ids := leftovers(t, db, round+1, "1", "2")
			var wg sync.WaitGroup
			call := func(what string, fn func() error, accepted ...error) {
				wg.Go(func() {
					err := fn()
					if err != nil && !slices.ContainsFunc(accepted, func(a error) bool { return errors.Is(err, a) }) {
						t.Errorf("%s: %v", what, err)
					}
				})
			}
			for _, id := range ids {
				call("skip", func() error { _, err := queue.SkipParked(t.Context(), db, id); return err }, onerow.ErrNotFound)
				call("retry parked", func() error { _, err := queue.RetryParked(t.Context(), db, id); return err }, onerow.ErrNotFound)
			}
			call("retry", func() error { _, err := queue.Retry(t.Context(), db, job.ID); return err }, queue.ErrWrongState)
			for range 2 {
				call("end", func() error { _, err := end(t.Context(), db, job.ID); return err })
			}
			wg.Wait()
			got := get(t, db, job.ID)
			if (got.State == queue.Leftovers) != (got.Parked > 0 && !got.State.Open()) {
				t.Fatalf("round %d: %+v", round, got)
			}
			if n := count(t, db, "SELECT (SELECT COUNT(*) FROM onerow_job WHERE id = ?) + (SELECT COUNT(*) FROM onerow_job_archive WHERE id = ?)", job.ID, job.ID); n != 1 {
				t.Fatalf("round %d: the job is there %d times", round, n)
			}
		}
	})
}

// TestParkedStatements holds the numbers of the doc comments, on a pool.
func TestParkedStatements(t *testing.T) {
	db, connector := counting(t)
	ctx := t.Context()
	takes := func(what string, want int, call func() error) {
		t.Helper()
		log, err := crashtest.Count(connector, call)
		if err != nil || len(log) != want {
			t.Errorf("%s takes %d statements, want %d; it said %v\n%s", what, len(log), want, err, log)
		}
	}
	job, ids := leftovers(t, db, 1, "1", "2", "3")
	takes("ListParked", 1, func() error { _, err := queue.ListParked(ctx, db, queue.ParkedOptions{}); return err })
	takes("SkipParked", 5+2, func() error { _, err := queue.SkipParked(ctx, db, ids[0]); return err })
	takes("RetryParked", 6+2, func() error { _, err := queue.RetryParked(ctx, db, ids[1]); return err })
	takes("SkipParked of an open job", 4+2, func() error { _, err := queue.SkipParked(ctx, db, ids[2]); return err })
	takes("RetryParked of an open job", 4+2, func() error { _, err := queue.RetryParked(ctx, db, ids[2]); return err })
	takes("parkedKeys", 1, func() error { _, err := work.ParkedKeys(ctx, db, job.ID); return err })
	job, ids = leftovers(t, db, 2, "1")
	takes("SkipParked of the last", 5+2, func() error { _, err := queue.SkipParked(ctx, db, ids[0]); return err })
	job, _ = leftovers(t, db, 3, "1", "2")
	takes("Retry", 4+2, func() error { _, err := queue.Retry(ctx, db, job.ID); return err })
	takes("ReadStats", 1, func() error { _, err := admin.ReadStats(ctx, db); return err })
	takes("Workers", 1, func() error { _, err := admin.Workers(ctx, db); return err })
	takes("Pause", 1, func() error { return admin.Pause(ctx, db, "", "") })
	takes("Paused", 1, func() error { _, err := admin.Paused(ctx, db); return err })
	takes("Resume", 1, func() error { return admin.Resume(ctx, db, "") })
	many := make([]queue.Deletion, 501)
	for i := range many {
		many[i] = queue.Deletion{Resource: "project", ResourceID: key(int64(i + 1000))}
	}
	takes("EnqueueMany", 2*(2+2), func() error { _, _, err := queue.EnqueueMany(ctx, db, many); return err })
}

// crashParked runs an operator's call against a job that left rows 1 and 2, and fails it
// at every statement.
func crashParked(t *testing.T, points int, done error, call func(ctx context.Context, db *sql.DB) error) {
	w := crashtest.Workflow{
		Setup: func(ctx context.Context, db *sql.DB) error {
			return execAll(ctx, db, "DELETE FROM onerow_parked", "DELETE FROM onerow_job_plan",
				putJob("project", "leftovers", "0 SECOND"), moveColumns+"UTC_TIMESTAMP(6) FROM onerow_job", "DELETE FROM onerow_job",
				"INSERT INTO onerow_job_plan VALUES (1, 'print', UTC_TIMESTAMP(6))",
				`INSERT INTO onerow_parked (id, job_id, table_name, row_key, error, state, parked_at) VALUES
(1, 1, 'note', '1', 'e', 'parked', UTC_TIMESTAMP(6)), (2, 1, 'note', '2', 'e', 'skipped', UTC_TIMESTAMP(6))`)
		},
		Call: func(ctx context.Context, db *sql.DB) error {
			err := call(ctx, db)
			if done != nil && errors.Is(err, done) { // an earlier call did it
				return nil
			}
			return err
		},
	}
	for name, opts := range sessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.DSN(t, opts...)
			plant(t, dbtest.OpenDSN(t, dsn))
			w := complete(w, dsn)
			w.Ignore = append(slices.Clone(w.Ignore), "onerow_parked.version")
			if report := crashtest.Run(t, racetest.Share(w)); report.FaultPoints < racetest.Least(points) {
				t.Errorf("only %d fault points", report.FaultPoints)
			}
		})
	}
}

func TestCrashSkipParked(t *testing.T) {
	crashParked(t, 60, nil, func(ctx context.Context, db *sql.DB) error {
		job, err := queue.SkipParked(ctx, db, 1)
		if err == nil && (job.State != queue.Done || job.Skipped != 2) {
			return fmt.Errorf("%+v", job)
		}
		return err
	})
}

func TestCrashRetryParked(t *testing.T) {
	crashParked(t, 60, onerow.ErrNotFound, func(ctx context.Context, db *sql.DB) error {
		job, err := queue.RetryParked(ctx, db, 1)
		if err == nil && (job.State != queue.Ready || job.Parked != 0 || job.Skipped != 1) {
			return fmt.Errorf("%+v", job)
		}
		return err
	})
}

func TestCrashRetryLeftovers(t *testing.T) {
	crashParked(t, 50, queue.ErrWrongState, func(ctx context.Context, db *sql.DB) error {
		_, err := queue.Retry(ctx, db, 1)
		return err
	})
}

// TestCrashCatchesTheNaiveSkip: one who settles the job in a statement of its own.
func TestCrashCatchesTheNaiveSkip(t *testing.T) {
	dsn := dbtest.DSN(t)
	plant(t, dbtest.OpenDSN(t, dsn))
	w := complete(crashtest.Workflow{
		Setup: func(ctx context.Context, db *sql.DB) error {
			return execAll(ctx, db, "DELETE FROM onerow_parked", putJob("project", "leftovers", "0 SECOND"), moveColumns+"UTC_TIMESTAMP(6) FROM onerow_job",
				"DELETE FROM onerow_job", `INSERT INTO onerow_parked (id, job_id, table_name, row_key, error, state, parked_at) VALUES
(1, 1, 'note', '1', 'e', 'parked', UTC_TIMESTAMP(6))`)
		},
		Call: func(ctx context.Context, db *sql.DB) error {
			n, err := onerow.Affected(ctx, db, "UPDATE onerow_parked SET state = 'skipped', version = version + 1 WHERE id = 1 AND state = 'parked'")
			if err != nil || n == 0 {
				return err
			}
			_, err = db.ExecContext(ctx, `UPDATE onerow_job_archive SET state = 'done', batch_seq = batch_seq + 1
WHERE id = 1 AND state = 'leftovers' AND NOT EXISTS (SELECT 1 FROM onerow_parked WHERE job_id = 1 AND state = 'parked')`)
			return err
		},
	}, dsn)
	_, err := crashtest.Explore(t.Context(), w)
	var failures *crashtest.Failures
	if !errors.As(err, &failures) {
		t.Fatalf("nobody noticed: %v", err)
	}
}
