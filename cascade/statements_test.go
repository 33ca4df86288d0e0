package cascade

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// counting is a forest behind a connector that counts.
func counting(t *testing.T) (*sql.DB, *crashtest.Connector) {
	t.Helper()
	dsn := dbtest.DSN(t)
	plant(t, dbtest.OpenDSN(t, dsn))
	return racetest.Counted(t, dsn)
}

// TestStatements holds the numbers that the package documentation gives.
func TestStatements(t *testing.T) {
	db, connector := counting(t)
	ctx := t.Context()
	takes := func(what string, want int, call func() error) {
		t.Helper()
		log, err := crashtest.Count(connector, call)
		if err != nil || len(log) != want {
			t.Errorf("%s takes %d statements, want %d; it said %v\n%s", what, len(log), want, err, log)
		}
	}
	d := queue.Deletion{Resource: "project", ResourceID: "1", From: "active", Grace: time.Hour}
	w := quiet(t, worker(t, db, Config{MaxFailures: 2}))
	var job queue.Job
	takes("Log", 1, func() (err error) { d.ID, err = queue.Log(ctx, db, d); return err })
	takes("Enqueue", 3, func() (err error) { job, err = queue.Enqueue(ctx, db, d); return err })
	takes("Enqueue of an open job", 4, func() error { _, err := queue.Enqueue(ctx, db, d); return err })
	takes("Find", 1, func() error { _, err := queue.Find(ctx, db, "project", "1"); return err })
	takes("Get", 1, func() error { _, err := queue.Get(ctx, db, job.ID); return err })
	takes("List", 2, func() error { _, err := queue.List(ctx, db, queue.ListOptions{}); return err })
	takes("OpenJobs", 4, func() error { _, err := queue.List(ctx, db, queue.ListOptions{Due: 5, Later: 5}); return err })
	takes("List of those that ended last, of which there is none", 1, func() error { _, err := queue.List(ctx, db, queue.ListOptions{LastEnded: true, Limit: 5}); return err })
	takes("a round with nothing due", 1, func() error { _, err := w.RunOnce(ctx); return err })
	takes("Cancel", 5, func() error { return queue.Cancel(ctx, db, "project", "1", d.ID) })
	takes("Cancel too late", 4, func() error {
		if err := queue.Cancel(ctx, db, "project", "1", d.ID+1); !errors.Is(err, queue.ErrTooLate) {
			return errors.Join(errors.New("not too late"), err)
		}
		return nil
	})
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.Grace = 0
	takes("Enqueue in a transaction", 1, func() error { _, err := queue.Enqueue(ctx, tx, d); return err })
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	bad, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "project", ResourceID: "nonsense"})
	if err != nil {
		t.Fatal(err)
	}
	takes("a failure", 6+1, func() error { _, err := w.RunOnce(ctx); return err })
	makeDue(t, db, bad.ID)
	takes("the last failure", 6+5, func() error { _, err := w.RunOnce(ctx); return err })
	takes("Retry", 6, func() error { _, err := queue.Retry(ctx, db, bad.ID); return err })
	takes("Retry of what is not dead", 5, func() error {
		if _, err := queue.Retry(ctx, db, bad.ID); !errors.Is(err, queue.ErrWrongState) {
			return errors.Join(errors.New("it was dead"), err)
		}
		return nil
	})
	c, err := w.claim(ctx, w.cfg.ClaimJobs)
	if err != nil {
		t.Fatal(err)
	}
	takes("giving a job back", 1, func() error { return w.release(ctx, c, c.Jobs) })
	if c, err = w.claim(ctx, 1); err != nil || len(c.Jobs) != 1 {
		t.Fatal(c, err)
	}
	if _, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "project", ResourceID: "nonsense, too"}); err != nil {
		t.Fatal(err)
	}
	takes("the end of a turn", 2, func() error {
		l := &lease{Worker: w, job: c.Jobs[0], turn: turn{begun: time.Now().Add(-time.Hour), reached: time.Second}}
		return w.settle(ctx, c, l.job, l.giveWay(ctx, true))
	})
	takes("a failure of a job that another has", 2, func() error { return w.fail(ctx, c.Jobs[0], errors.New("late"), false) })
	dbtest.Exec(t, db, "DELETE FROM onerow_job")

	// An empty project: claim, look for the root and, in both tables, for screens and
	// in one for widgets, then the last batch: BEGIN, fence, the plan, notes, look for
	// others, copy the job, delete it, COMMIT.
	condemn(t, db, 1, 0)
	takes("an empty project", 6+1+3+8, func() error { _, err := w.RunOnce(ctx); return err })
	project(t, db, 1)
	condemn(t, db, 1, 0)
	takes("an empty project that is there", 6+1+1+3+8+3, func() error { _, err := w.RunOnce(ctx); return err })
}

// TestStatementsDoNotGrow: as long as it fits into a chunk and a batch, a tree takes
// the same statements whatever its size.
func TestStatementsDoNotGrow(t *testing.T) {
	var counts []int
	for _, n := range []int64{2, 10} {
		db, connector := counting(t)
		rows := grow(t, db, 1, n, n, 2, n)
		condemn(t, db, 1, 0)
		w := quiet(t, worker(t, db, Config{}))
		log, err := crashtest.Count(connector, func() error { return w.Drain(t.Context()) })
		if err != nil {
			t.Fatal(err)
		}
		if left := rowsOf(t, db, 1); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		t.Logf("%d rows: %d statements", sum(rows), len(log))
		counts = append(counts, len(log))
	}
	if counts[0] != counts[1] {
		t.Errorf("statements grew: %v", counts)
	}
}
