package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

type call = func(ctx context.Context, db *sql.DB) error

// duel is two calls, or one twice, that meet in one state.
type duel struct {
	name        string
	setup       call
	a, b        call // b nil: a twice, and twice must be once
	check       call
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
		_, err := Enqueue(ctx, db, Deletion{ID: 5, Resource: "project", ResourceID: "1"})
		return err
	}
	cancel := func(ctx context.Context, db *sql.DB) error { return Cancel(ctx, db, "project", "1", 5) }
	retry := forgive(ErrNotDead, func(ctx context.Context, db *sql.DB) error {
		_, err := Retry(ctx, db, 1)
		return err
	})
	worker := func(db *sql.DB) (*Worker, error) {
		w, err := NewWorker(db, forest, Config{Lease: time.Millisecond, Name: "w", Assets: &shelf{}})
		if err == nil {
			ready(w)
		}
		return w, err
	}
	round := func(ctx context.Context, db *sql.DB) error {
		w, err := worker(db)
		if err != nil {
			return err
		}
		_, err = w.RunOnce(ctx)
		return err
	}
	zombie := forgive(ErrLeaseLost, func(ctx context.Context, db *sql.DB) error {
		w, err := worker(db)
		if err != nil {
			return err
		}
		return w.work(ctx, Job{ID: 1, Resource: "project", ResourceID: "1", DeletionID: 5, Token: 1, State: Running})
	})
	child := func(ctx context.Context, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			var one int
			err := onerow.QueryRow(ctx, tx, "SELECT 1 FROM project WHERE id = 1 LOCK IN SHARE MODE", nil, &one)
			if errors.Is(err, sql.ErrNoRows) {
				return nil // refused
			}
			if err == nil {
				err = insertRow(ctx, tx, "note", map[string]any{"project_id": 1})
			}
			return err
		})
	}
	dead := does(putJob("project", "dead", "0 SECOND"), moveColumns+"UTC_TIMESTAMP(6) FROM onerow_job", "DELETE FROM onerow_job")
	given := func(ctx context.Context, db *sql.DB) error {
		if err := insertRow(ctx, db, "project", map[string]any{"id": 1, "user_id": 7}); err != nil {
			return err
		}
		for range 3 {
			if err := insertRow(ctx, db, "note", map[string]any{"project_id": 1}); err != nil {
				return err
			}
		}
		return execAll(ctx, db, putJob("project", "ready", "0 SECOND"))
	}
	taken := func(ctx context.Context, db *sql.DB) error {
		return errors.Join(given(ctx, db), execAll(ctx, db, "UPDATE onerow_job SET state = 'running', token = 1, worker = 'w#1', started_at = UTC_TIMESTAMP(6)"))
	}
	exact := func(ctx context.Context, db *sql.DB) error {
		job, err := Get(ctx, db, 1)
		if err == nil && (job.State != Done || job.DeletedRows != 3) {
			err = fmt.Errorf("%s with %d rows counted", job.State, job.DeletedRows)
		}
		return err
	}
	alone := func(ctx context.Context, db *sql.DB) error {
		var below int
		err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM note WHERE project_id NOT IN (SELECT id FROM project)", nil, &below)
		if err == nil && below > 0 {
			err = fmt.Errorf("%d notes are below no project", below)
		}
		return err
	}
	return []duel{
		{"enqueue, twice", nil, enqueue, nil, nil, 2},
		{"enqueue, enqueue with grace", nil, enqueue, func(ctx context.Context, db *sql.DB) error {
			_, err := Enqueue(ctx, db, Deletion{ID: 5, Resource: "project", ResourceID: "1", Grace: time.Hour})
			return err
		}, nil, 2},
		{"cancel, twice", does(putJob("project", "scheduled", "1 HOUR")), cancel, nil, nil, 2},
		{"cancel, enqueue", does(putJob("project", "scheduled", "1 HOUR")), forgive(ErrTooLate, cancel), enqueue, nil, 2},
		{"retry, twice", dead, retry, nil, nil, 2},
		{"retry, enqueue", dead, forgive(ErrOpenJob, retry), enqueue, nil, 2},
		{"a round, a round", given, round, round, exact, 1},
		{"a worker that lost its lease, its successor", taken, zombie, round, exact, 1},
		{"a round, a child is inserted", given, round, child, alone, 2},
	}
}

func TestInterleave(t *testing.T) {
	for name, opts := range settings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.DSN(t, opts...)
			plant(t, dbtest.OpenDSN(t, dsn))
			for _, d := range duels(mapped(t, dsn, forest)) {
				t.Run(d.name, func(t *testing.T) {
					race := crashtest.Race{Workflow: complete(crashtest.Workflow{Name: "cascade: " + d.name, Setup: d.setup, Check: d.check}, dsn), Every: 60, Preemptions: d.preemptions}
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
// works it beside another, and the counts are those of whoever came last.
func TestInterleaveNaiveTwin(t *testing.T) {
	naive := func(ctx context.Context, db *sql.DB) error {
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
	dsn := dbtest.DSN(t)
	plant(t, dbtest.OpenDSN(t, dsn))
	setup := func(ctx context.Context, db *sql.DB) error {
		return errors.Join(execAll(ctx, db, putJob("project", "ready", "0 SECOND")), insertRow(ctx, db, "note", map[string]any{"project_id": 1}))
	}
	_, err := crashtest.ExploreRace(t.Context(), crashtest.Race{Workflow: complete(crashtest.Workflow{Name: "cascade, naive", Setup: setup, Call: naive}, dsn), AsOnce: true})
	var failures *crashtest.RaceFailures
	if !errors.As(err, &failures) {
		t.Fatalf("two workers that look before they take were not caught: %v", err)
	}
	if table := failures.List[0].Table; !strings.Contains(table, "SELECT state") || !strings.Contains(table, "DELETE FROM note") {
		t.Errorf("the schedule does not name the race:\n%s", table)
	}
}
