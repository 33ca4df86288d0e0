package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/retain"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/racetest"
)

// oldVisits are three rows with one below each, of which two are due.
func oldVisits(ctx context.Context, db *sql.DB) error {
	return execAll(ctx, db, "ALTER TABLE onerow_job AUTO_INCREMENT = 1", "INSERT INTO visit (id, seen_at) VALUES (1, '2020-01-01 00:00:00'), (2, '2020-01-02 00:00:00'), (3, UTC_TIMESTAMP(6))",
		"INSERT INTO step (id, visit) VALUES (1, 1), (2, 2), (3, 3)")
}

func atticWorkflow(dsn string, w crashtest.Workflow) crashtest.Workflow {
	w.DSN, w.Ignore = dsn, append(append([]string{}, unstable...), "onerow_retention.next_at")
	w.Sets = []string{"onerow_deletion"}
	w.Refs = map[string]string{"onerow_job.deletion_id": "onerow_deletion.id", "onerow_job_archive.deletion_id": "onerow_deletion.id", "onerow_job_archive.id": "onerow_job.id",
		"onerow_job_count.job_id": "onerow_job.id", "onerow_job_plan.job_id": "onerow_job.id"}
	w.Empty = []string{"onerow_deletion", "onerow_job", "onerow_job_archive", "onerow_job_count", "onerow_job_plan", "onerow_retention", "visit", "step"}
	return w
}

// atticCalls are a step of the retention and a worker that works what is queued, with the catalog read.
func atticCalls(t *testing.T, dsn string, rate float64) (step, work call) {
	t.Helper()
	ready, plan := mapped(t, dsn, attic()), attic()
	plan.Tables[0].Retention.Rate = rate
	known, err := graph.Read(t.Context(), dbtest.OpenDSN(t, dsn), plan)
	if err != nil {
		t.Fatal(err)
	}
	step = func(ctx context.Context, db *sql.DB) error {
		r := retain.New(db, plan, func(context.Context) (*graph.Graph, error) { return known, nil })
		_, err := r.Step(ctx, "visit", true)
		return err
	}
	work = func(ctx context.Context, db *sql.DB) error {
		w, err := NewWorker(db, attic(), Config{Name: "w", Target: -1, Lease: time.Hour})
		if err != nil {
			return err
		}
		ready(w)
		for n := 1; n > 0 && err == nil; {
			n, err = w.RunOnce(ctx)
		}
		return errors.Join(err, ctx.Err()) // a round that was cut is no error of the worker's
	}
	return step, work
}

// dueAgain ends what a crash leaves: the lease of a job and the turn.
var dueAgain = does("UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6)", "UPDATE onerow_retention SET next_at = UTC_TIMESTAMP(6)")

// TestCrashRetention: a step, or a job of one, that was cut at any statement and is called again has done as
// much as one that was not.
func TestCrashRetention(t *testing.T) {
	for name, opts := range sessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.DSN(t, opts...)
			plantAttic(t, dbtest.OpenDSN(t, dsn))
			step, work := atticCalls(t, dsn, 0)
			report := crashtest.Run(t, racetest.Share(atticWorkflow(dsn, crashtest.Workflow{
				Setup: oldVisits,
				Call: func(ctx context.Context, db *sql.DB) error {
					return errors.Join(dueAgain(ctx, db), step(ctx, db), work(ctx, db))
				},
				Check: func(ctx context.Context, db *sql.DB) error {
					var got string
					err := db.QueryRowContext(ctx, `SELECT CONCAT((SELECT GROUP_CONCAT(id) FROM visit), ' ', (SELECT GROUP_CONCAT(id) FROM step), ' ',
  (SELECT COUNT(*) FROM onerow_job), ' ', (SELECT GROUP_CONCAT(CAST(state AS CHAR) ORDER BY id) FROM onerow_job_archive), ' ', (SELECT SUM(deleted_rows) FROM onerow_job_count))`).Scan(&got)
					if want := "3 3 0 done,done 2"; err == nil && got != want {
						err = fmt.Errorf("%s, want %s", got, want)
					}
					return err
				},
			})))
			if report.FaultPoints < racetest.Least(30) {
				t.Errorf("only %d fault points", report.FaultPoints)
			}
		})
	}
}

// TestInterleaveRetention: two steps at once are as one; a row that is written beside the job that looks at
// it stays whole or goes whole; one that is restored beside a step stays held.
func TestInterleaveRetention(t *testing.T) {
	for name, opts := range sessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.DSN(t, opts...)
			plantAttic(t, dbtest.OpenDSN(t, dsn))
			step, work := atticCalls(t, dsn, 0)
			slow, _ := atticCalls(t, dsn, 0.01) // its turn is longer than any schedule
			queued := func(ctx context.Context, db *sql.DB) error { return errors.Join(oldVisits(ctx, db), step(ctx, db)) }
			touch := func(ctx context.Context, db *sql.DB) error {
				return execAll(ctx, db, "UPDATE visit SET seen_at = UTC_TIMESTAMP(6) WHERE id = 1")
			}
			whole := func(ctx context.Context, db *sql.DB) error {
				var rows, steps, spared int
				err := onerow.QueryRow(ctx, db, "SELECT (SELECT COUNT(*) FROM visit WHERE id = 1), (SELECT COUNT(*) FROM step WHERE visit = 1), (SELECT COUNT(*) FROM onerow_job_archive WHERE state = 'cancelled')",
					nil, &rows, &steps, &spared)
				if err == nil && (rows != steps || rows != spared) {
					err = fmt.Errorf("%d rows, %d below, %d jobs spared one", rows, steps, spared)
				}
				return err
			}
			held := does("INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at) VALUES (1, 'visit', '1', 5, 'held', UTC_TIMESTAMP(6) + INTERVAL 1000 YEAR, UTC_TIMESTAMP(6))")
			stays := func(ctx context.Context, db *sql.DB) error {
				var state string
				err := onerow.QueryRow(ctx, db, "SELECT CAST(state AS CHAR) FROM onerow_job WHERE resource_id = '1'", nil, &state)
				if err == nil && state != "held" && state != "ready" {
					err = fmt.Errorf("it is %s", state)
				}
				return err
			}
			one := func(ctx context.Context, db *sql.DB) error {
				var n int
				err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM onerow_job", nil, &n)
				if err == nil && n != 1 {
					err = fmt.Errorf("%d jobs", n)
				}
				return err
			}
			for _, d := range []struct {
				name        string
				setup, a, b call
				check       call
				judge       func(ctx context.Context, db *sql.DB, answers []error) error
				preemptions int
			}{
				{"two steps of one row each", oldVisits, slow, slow, one, nil, 2},
				{"a step, a job", queued, step, work, nil, answered, 1},
				{"a job, the row is written", queued, work, touch, whole, answered, 2},
				{"a step, the job is held", oldVisits, step, forgiveDuplicate(held), stays, answered, 2},
			} {
				t.Run(d.name, func(t *testing.T) {
					w := atticWorkflow(dsn, crashtest.Workflow{Name: "retention: " + d.name, Setup: d.setup, Check: d.check})
					crashtest.Interleave(t, crashtest.Race{Workflow: w, Calls: []call{d.a, d.b}, Judge: d.judge, Every: 60, Preemptions: d.preemptions})
				})
			}
		})
	}
}

// answered: all calls succeed, whatever came of them.
func answered(_ context.Context, _ *sql.DB, answers []error) error { return errors.Join(answers...) }

func forgiveDuplicate(c call) call {
	return func(ctx context.Context, db *sql.DB) error {
		if err := c(ctx, db); err != nil && mysqlerr.Classify(err) != mysqlerr.Duplicate {
			return err
		}
		return nil
	}
}
