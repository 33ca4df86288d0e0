package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

type call = func(ctx context.Context, db *sql.DB) error

// duel is two calls, or one twice, that meet in one state.
type duel struct {
	name        string
	setup       call
	a, b        call // b nil: a twice, and twice must be once
	check       call
	judge       func(ctx context.Context, db *sql.DB, answers []error) error // in place of the serial executions
	preemptions int
}

func does(queries ...string) call {
	return func(ctx context.Context, db *sql.DB) error { return execAll(ctx, db, queries...) }
}

// forgive makes an error that a rightful loser gets into no error.
func forgive(right error, c call) call {
	return func(ctx context.Context, db *sql.DB) error {
		if err := c(ctx, db); !errors.Is(err, right) {
			return err
		}
		return nil
	}
}

func duels(ready func(*Worker)) []duel {
	enqueue := func(ctx context.Context, db *sql.DB) error {
		_, err := queue.Enqueue(ctx, db, queue.Deletion{ID: 5, Resource: "project", ResourceID: "1"})
		return err
	}
	cancel := func(ctx context.Context, db *sql.DB) error { return queue.Cancel(ctx, db, "project", "1", 5) }
	retry := forgive(queue.ErrWrongState, func(ctx context.Context, db *sql.DB) error {
		_, err := queue.Retry(ctx, db, 1)
		return err
	})
	// The lease ends when a duel says so, not by the clock.
	worker := func(db *sql.DB, cfg Config) (*Worker, error) {
		cfg.Lease, cfg.Name, cfg.Assets = time.Hour, "w", &shelf{}
		w, err := NewWorker(db, forest, cfg)
		if err == nil {
			ready(w)
		}
		return w, err
	}
	round := func(ctx context.Context, db *sql.DB) error {
		w, err := worker(db, Config{})
		if err != nil {
			return err
		}
		_, err = w.RunOnce(ctx)
		return err
	}
	successor := func(ctx context.Context, db *sql.DB) error {
		return errors.Join(execAll(ctx, db, "UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6)"), round(ctx, db))
	}
	zombie := forgive(fault.ErrLeaseLost, func(ctx context.Context, db *sql.DB) error {
		w, err := worker(db, Config{Batch: 1, Chunk: 1}) // several batches, each of which may be the first without the lease
		if err != nil {
			return err
		}
		return w.work(ctx, queue.Claimed{Lease: w.cfg.Lease, Job: queue.Job{ID: 1, Resource: "project", ResourceID: "1", DeletionID: 5, Token: 1, State: queue.Running}}, false)
	})
	// child is inserted below row 1 of a table, as package repo does it.
	child := func(table, above string) call {
		return func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				var one int
				err := onerow.QueryRow(ctx, tx, "SELECT 1 FROM "+above+" WHERE id = 1 LOCK IN SHARE MODE", nil, &one)
				if errors.Is(err, sql.ErrNoRows) {
					return nil // refused
				}
				if err == nil {
					err = insertRow(ctx, tx, table, map[string]any{above + "_id": 1})
				}
				return err
			})
		}
	}
	dead := does(putJob("project", "dead", "0 SECOND"), moveColumns+"UTC_TIMESTAMP(6) FROM onerow_job", "DELETE FROM onerow_job")
	// given is a job for a project with three rows below it, of which so many are screens.
	given := func(screens int) call {
		return func(ctx context.Context, db *sql.DB) error {
			if err := insertRow(ctx, db, "project", map[string]any{"id": 1, "user_id": 7}); err != nil {
				return err
			}
			for i := range 3 {
				table := "note"
				if i < screens {
					table = "screen"
				}
				if err := insertRow(ctx, db, table, map[string]any{"id": i + 1, "project_id": 1}); err != nil {
					return err
				}
			}
			return execAll(ctx, db, putJob("project", "ready", "0 SECOND"))
		}
	}
	taken := func(ctx context.Context, db *sql.DB) error {
		return errors.Join(given(1)(ctx, db), execAll(ctx, db, "UPDATE onerow_job SET state = 'running', token = 1, worker = 'w#1', started_at = UTC_TIMESTAMP(6)"))
	}
	exact := func(ctx context.Context, db *sql.DB) error {
		job, err := queue.Get(ctx, db, 1)
		if err == nil && (job.State != queue.Done || job.DeletedRows != 3) {
			err = fmt.Errorf("%s with %d rows counted", job.State, job.DeletedRows)
		}
		return err
	}
	alone := func(table, above string) call {
		return func(ctx context.Context, db *sql.DB) error {
			var below int
			err := onerow.QueryRow(ctx, db, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE %s_id NOT IN (SELECT id FROM %[2]s)", table, above), nil, &below)
			if err == nil && below > 0 {
				err = fmt.Errorf("%d rows of %s are below no %s", below, table, above)
			}
			return err
		}
	}
	// ended is a job that ended long ago, with a count and a row that is parked or skipped.
	ended := func(state, row string) call {
		return does(putJob("project", state, "0 SECOND"), moveColumns+"UTC_TIMESTAMP(6) - INTERVAL 400 DAY FROM onerow_job", "DELETE FROM onerow_job",
			"INSERT INTO onerow_job_count (job_id, table_name, deleted_rows) VALUES (1, 'note', 3)",
			"INSERT INTO onerow_parked (id, job_id, table_name, row_key, error, state, parked_at) VALUES (1, 1, 'note', '1', 'in use', '"+row+"', UTC_TIMESTAMP(6))")
	}
	purge := func(ctx context.Context, db *sql.DB) error { return second(queue.PurgeJobs(ctx, db, year, 10, false)) }
	purgeAudits := func(ctx context.Context, db *sql.DB) error {
		return second(queue.PurgeDeletions(ctx, db, year, 10, false))
	}
	audit := "INSERT INTO onerow_deletion (id, resource, resource_id, deleted_from, grace_us, requested_at) VALUES (5, 'project', '1', 'active', 0, UTC_TIMESTAMP(6) - INTERVAL 400 DAY)"
	retryRow := forgive(queue.ErrNoJob, forgive(onerow.ErrNotFound, func(ctx context.Context, db *sql.DB) error { return second(queue.RetryParked(ctx, db, 1)) }))
	skipRow := forgive(queue.ErrNoJob, forgive(onerow.ErrNotFound, func(ctx context.Context, db *sql.DB) error { return second(queue.SkipParked(ctx, db, 1)) }))
	takeover, unchanged := takeOver(new(string))
	return []duel{
		{"purge, twice", ended("done", "skipped"), purge, nil, nil, nil, 2},
		{"purge, retry a skipped row", ended("done", "skipped"), purge, retryRow, nil, nil, 2},
		{"purge, skip the last row", ended("leftovers", "parked"), purge, skipRow, nil, nil, 2},
		{"purge audits, twice", does(audit), purgeAudits, nil, nil, nil, 2},
		{"purge audits, purge", func(ctx context.Context, db *sql.DB) error {
			return errors.Join(ended("done", "skipped")(ctx, db), does(audit)(ctx, db))
		}, purgeAudits, purge, nil, nil, 2},
		{"purge audits, enqueue", does(audit), purgeAudits, enqueue, nil, nil, 2},
		{"enqueue, twice", nil, enqueue, nil, nil, nil, 2},
		{"enqueue, enqueue with grace", nil, enqueue, func(ctx context.Context, db *sql.DB) error {
			_, err := queue.Enqueue(ctx, db, queue.Deletion{ID: 5, Resource: "project", ResourceID: "1", Grace: time.Hour})
			return err
		}, nil, nil, 2},
		{"cancel, twice", does(putJob("project", "scheduled", "1 HOUR")), cancel, nil, nil, nil, 2},
		{"cancel, enqueue", does(putJob("project", "scheduled", "1 HOUR")), forgive(queue.ErrTooLate, cancel), enqueue, nil, nil, 2},
		{"retry, twice", dead, retry, nil, nil, nil, 2},
		{"retry, enqueue", dead, forgive(queue.ErrOpenJob, retry), enqueue, nil, nil, 2},
		{"a round, a round", given(0), round, round, exact, nil, 1},
		{"a round, another one when its lease is over", given(0), round, successor, exact, nil, 1},
		{"a worker that loses its lease, its successor", taken, zombie, successor, exact, nil, 1},
		{"a worker that loses its lease changes nothing", taken, zombie, takeover, nil, unchanged, 1},
		{"a round, the job is paused", given(0), round, func(ctx context.Context, db *sql.DB) error {
			err := second(queue.PauseJob(ctx, db, 1, "why"))
			if errors.Is(err, queue.ErrWrongState) {
				return nil // the round was done
			}
			return errors.Join(err, round(ctx, db), second(queue.ResumeJob(ctx, db, 1)), round(ctx, db))
		}, exact, nil, 1},
		{"a round, the job is cancelled", given(0), round, func(ctx context.Context, db *sql.DB) error {
			err := second(queue.HoldJob(ctx, db, 1, "why"))
			if errors.Is(err, queue.ErrWrongState) {
				return nil // the round was done
			}
			return errors.Join(err, queue.Cancel(ctx, db, "project", "1", 5))
		}, func(ctx context.Context, db *sql.DB) error {
			job, err := queue.Get(ctx, db, 1)
			var left int64
			if err == nil {
				err = onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM note", nil, &left)
			}
			if err == nil && (job.State != queue.Done && job.State != queue.Cancelled || job.DeletedRows+left != 3 || job.State == queue.Done && left > 0) {
				err = fmt.Errorf("%s with %d rows counted and %d left", job.State, job.DeletedRows, left)
			}
			return err
		}, nil, 1},
		{"a round, a child is inserted", given(0), round, child("note", "project"), alone("note", "project"), nil, 2},
		{"a round, a leaf is inserted below a row that goes", given(1), round, child("tag", "screen"), alone("tag", "screen"), nil, 2},
		{"a round, a row is inserted below a row that goes", given(1), round, child("comment", "screen"), alone("comment", "screen"), nil, 2},
	}
}

// books is what a worker changes: what is left of the rows, what is counted, and the job.
func books(ctx context.Context, db *sql.DB) (text string, err error) {
	err = onerow.QueryRow(ctx, db, `SELECT CONCAT((SELECT COUNT(*) FROM note), ' notes, ', (SELECT COUNT(*) FROM screen), ' screens, ',
  (SELECT COUNT(*) FROM project), ' projects, ', (SELECT COALESCE(SUM(deleted_rows), 0) FROM onerow_job_count), ' rows counted, ',
  COALESCE((SELECT CONCAT('batch ', batch_seq, ', due ', due_at) FROM onerow_job), 'no job'))`, nil, &text)
	return text, err
}

// takeOver is what a claim does to the job, and a look at what the worker before it has done until then.
// unchanged: the books are as they were then, however much of the work that is.
func takeOver(seen *string) (takeover call, unchanged func(ctx context.Context, db *sql.DB, answers []error) error) {
	takeover = func(ctx context.Context, db *sql.DB) (err error) {
		if err = execAll(ctx, db, "UPDATE onerow_job SET token = token + 1, worker = 'w#2' WHERE id = 1"); err == nil {
			*seen, err = books(ctx, db)
		}
		return err
	}
	return takeover, func(ctx context.Context, db *sql.DB, answers []error) error {
		now, err := books(ctx, db)
		if err = errors.Join(append(answers, err)...); err == nil && now != *seen {
			err = fmt.Errorf("taken over with %s, and then: %s", *seen, now)
		}
		return err
	}
}

func TestInterleave(t *testing.T) {
	for name, opts := range sessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.DSN(t, opts...)
			plant(t, dbtest.OpenDSN(t, dsn))
			for _, d := range duels(mapped(t, dsn, forest)) {
				t.Run(d.name, func(t *testing.T) {
					race := crashtest.Race{Workflow: complete(crashtest.Workflow{Name: "cascade: " + d.name, Setup: d.setup, Check: d.check}, dsn), Judge: d.judge, Every: 60, Preemptions: d.preemptions}
					if race.Calls = []call{d.a, d.b}; d.b == nil {
						race.Calls, race.Call, race.AsOnce = nil, d.a, true
					}
					crashtest.Interleave(t, race)
				})
			}
		})
	}
}

// TestInterleaveNaiveTwin: a worker that looks whether the job is taken, and then takes it,
// works it beside another, and the counts are those of whoever came last. One that looks
// whether the token is its own, and then deletes, deletes after it has lost its lease.
func TestInterleaveNaiveTwin(t *testing.T) {
	claim := func(ctx context.Context, db *sql.DB) error {
		var state string
		if err := onerow.QueryRow(ctx, db, "SELECT state FROM onerow_job WHERE id = 1", nil, &state); err != nil || state != "ready" {
			return err
		}
		if err := execAll(ctx, db, "UPDATE onerow_job SET state = 'running' WHERE id = 1"); err != nil {
			return err
		}
		n, err := onerow.Affected(ctx, db, "DELETE FROM note WHERE project_id = 1")
		if err != nil {
			return err
		}
		return execAll(ctx, db, fmt.Sprintf("REPLACE INTO onerow_job_count VALUES (1, 'note', %d)", n))
	}
	batch := func(ctx context.Context, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			var token int
			if err := onerow.QueryRow(ctx, tx, "SELECT token FROM onerow_job WHERE id = 1", nil, &token); err != nil || token != 0 {
				return err
			}
			_, err := tx.ExecContext(ctx, "DELETE FROM note WHERE project_id = 1")
			return err
		})
	}
	setup := func(ctx context.Context, db *sql.DB) error {
		return errors.Join(execAll(ctx, db, putJob("project", "ready", "0 SECOND")), insertRow(ctx, db, "note", map[string]any{"project_id": 1}))
	}
	for name, opts := range sessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.DSN(t, opts...)
			plant(t, dbtest.OpenDSN(t, dsn))
			takeover, unchanged := takeOver(new(string))
			w := complete(crashtest.Workflow{Setup: setup}, dsn)
			for _, twin := range []struct {
				name   string
				race   crashtest.Race
				racing []string // in the order in which they come
			}{
				{"look whether it is taken, then take it", crashtest.Race{Workflow: w, Calls: []call{claim, claim}, AsOnce: true},
					[]string{"SELECT state", "SELECT state", "DELETE FROM note", "DELETE FROM note"}},
				{"look at the token, then delete", crashtest.Race{Workflow: w, Calls: []call{batch, takeover}, Judge: unchanged},
					[]string{"SELECT token", "UPDATE onerow_job SET token", "DELETE FROM note"}},
			} {
				t.Run(twin.name, func(t *testing.T) {
					twin.race.Name = "cascade, naive: " + twin.name
					racetest.Caught(t, twin.race, twin.racing...)
				})
			}
		})
	}
}
