package queue

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestJobError: an error about a job says which, of which row, and its state.
func TestJobError(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		enqueue := func() Job {
			job, err := Enqueue(ctx, db, Deletion{Resource: "project", ResourceID: "42"})
			if err != nil {
				t.Fatal(err)
			}
			return job
		}
		wantDetail := func(err, is error, id int64) {
			t.Helper()
			var detail *JobError
			if !errors.Is(err, is) || !errors.As(err, &detail) || detail.JobID != id || detail.Resource != "project" || detail.ResourceID != "42" || detail.State != Ready {
				t.Errorf("%v: %+v", err, detail)
			}
		}
		job := enqueue()
		_, err := Retry(ctx, db, job.ID)
		wantDetail(err, ErrWrongState, job.ID)
		dbtest.Exec(t, db, `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
SELECT id, resource, resource_id, deletion_id, 'dead', due_at, 1, 1, 0, created_at, UTC_TIMESTAMP(6) FROM onerow_job`)
		dbtest.Exec(t, db, "DELETE FROM onerow_job")
		next := enqueue()
		_, err = Retry(ctx, db, job.ID)
		wantDetail(err, ErrOpenJob, next.ID)
	})
}

// TestRestoreLost: a restore that has lost its job says to whom.
func TestRestoreLost(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		job, err := Enqueue(ctx, db, Deletion{ID: 5, Resource: "project", ResourceID: "42"})
		if err != nil {
			t.Fatal(err)
		}
		in := func(fn func(ctx context.Context, tx *onerow.Tx) error) error { return onerow.InTx(ctx, db, fn) }
		hold := func() (held Job) {
			err := in(func(ctx context.Context, tx *onerow.Tx) (err error) {
				held, err = HoldForRestore(ctx, tx, job.ID, func(bool) error { return nil })
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return held
		}
		wantLost := func(held Job, why string) {
			t.Helper()
			err := in(func(ctx context.Context, tx *onerow.Tx) error { return FenceRestore(ctx, tx, held) })
			var detail *JobError
			if !errors.Is(err, ErrWrongState) || !errors.As(err, &detail) || detail.JobID != job.ID || !strings.Contains(err.Error(), why) {
				t.Errorf("%v, want %q", err, why)
			}
		}
		first := hold()
		second := hold()
		wantLost(first, "another restore has begun since")
		if _, err := HoldJob(ctx, db, job.ID, "an operator"); err != nil {
			t.Fatal(err)
		}
		wantLost(second, "it is held")
		if _, err := Retry(ctx, db, job.ID); err != nil {
			t.Fatal(err)
		}
		wantLost(second, "a retry or a new deletion has let it go on")
		third := hold()
		if err := Cancel(ctx, db, "project", "42", 5); err != nil {
			t.Fatal(err)
		}
		wantLost(third, "it is restored")
	})
}
