package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// onlyProjects is the plan of a worker that has no assets to delete.
func onlyProjects() schema.Plan { return schema.Plan{Resources: plan().Resources[:1]} }

// TestCancelThatCannotBe: the row's value of another unique index was taken meanwhile. The
// cancel says so, and nobody deletes the row, also when the grace period ends.
func TestCancelThatCannotBe(t *testing.T) {
	code := int64(7)
	for name, cancel := range map[string]func(ctx context.Context, db onerow.DB, p *repo.Repo[Project], del repo.Deleted[Project]) error{
		"cancel": func(ctx context.Context, db onerow.DB, p *repo.Repo[Project], del repo.Deleted[Project]) error {
			return second(p.CancelDelete(ctx, db, del.Row.ID))
		},
		"restore": func(ctx context.Context, db onerow.DB, _ *repo.Repo[Project], del repo.Deleted[Project]) error {
			return second(repo.Restore(ctx, db, plan(), del.DeletionID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, p, ctx := open(t), newRepos(t).projects, t.Context()
			w := must(cascade.NewWorker(db, onlyProjects(), cascade.Config{}))
			id := must(p.Create(ctx, db, Project{UserID: 1, Name: "A", Code: &code})).Row.ID
			del := must(p.Delete(ctx, db, id, repo.Grace(time.Hour)))
			other := must(p.Create(ctx, db, Project{UserID: 1, Name: "B", Code: &code})).Row.ID
			state := func() queue.Job { return must(queue.Get(ctx, db, del.JobID)) }

			tx := must(db.BeginTx(ctx, nil))
			if err := cancel(ctx, tx, p, del); !errors.Is(err, repo.ErrConflict) || !strings.Contains(err.Error(), "committed") {
				t.Errorf("joined: %v", err)
			}
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			if job := state(); job.State != queue.Scheduled {
				t.Errorf("after a rollback: %+v", job)
			}
			for range 2 {
				if err := cancel(ctx, db, p, del); !errors.Is(err, repo.ErrConflict) || errors.Is(err, repo.ErrTooLate) {
					t.Errorf("%v", err)
				}
			}
			if job := state(); job.State != queue.Held || !strings.Contains(job.LastError, "cancelled") {
				t.Errorf("%+v", job)
			}
			must(db.ExecContext(ctx, "UPDATE onerow_job SET due_at = due_at - INTERVAL 2 HOUR"))
			if err := w.Drain(ctx); err != nil {
				t.Fatal(err)
			}
			if job := state(); job.State != queue.Held {
				t.Errorf("after its grace period: %+v", job)
			}
			must(p.Archive(ctx, db, other))
			if err := cancel(ctx, db, p, del); err != nil {
				t.Error(err)
			}
			if row := must(p.Get(ctx, db, id)); row.Name != "A" || state().State != queue.Cancelled {
				t.Errorf("%+v, %+v", row, state())
			}
		})
	}
}

// TestDeleteOfHeld: a delete ends the hold, with the earlier of the two times.
func TestDeleteOfHeld(t *testing.T) {
	db, p, ctx := open(t), newRepos(t).projects, t.Context()
	code := int64(7)
	id := must(p.Create(ctx, db, Project{UserID: 1, Name: "A", Code: &code})).Row.ID
	del := must(p.Delete(ctx, db, id, repo.Grace(time.Hour)))
	must(p.Create(ctx, db, Project{UserID: 1, Name: "B", Code: &code}))
	if _, err := p.CancelDelete(ctx, db, id); !errors.Is(err, repo.ErrConflict) {
		t.Fatal(err)
	}
	if again := must(p.Delete(ctx, db, id)); again.JobID != del.JobID {
		t.Errorf("deleted again: %+v", again)
	}
	if err := must(cascade.NewWorker(db, onlyProjects(), cascade.Config{})).Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if job := must(queue.Get(ctx, db, del.JobID)); job.State != queue.Done {
		t.Errorf("%+v", job)
	}
}

// TestDeleteWithReusedJobID: the id that a delete returns is that of its own job, though
// AUTO_INCREMENT of the queue has fallen back.
func TestDeleteWithReusedJobID(t *testing.T) {
	db, p, ctx := open(t), newRepos(t).projects, t.Context()
	var ids []int64
	for _, name := range []string{"A", "B"} {
		ids = append(ids, must(p.Create(ctx, db, Project{UserID: 1, Name: name})).Row.ID)
	}
	first := must(p.Delete(ctx, db, ids[0]))
	if err := must(cascade.NewWorker(db, onlyProjects(), cascade.Config{})).Drain(ctx); err != nil {
		t.Fatal(err)
	}
	rebuild(t, db, "onerow_job")
	del := must(p.Delete(ctx, db, ids[1]))
	if job := must(queue.Get(ctx, db, del.JobID)); del.JobID == first.JobID || job.DeletionID != del.DeletionID {
		t.Errorf("%+v, %+v; the first %+v", del, job, first)
	}
}

// TestFinishedSince: a job that ended after the caller's snapshot was taken is seen.
func TestFinishedSince(t *testing.T) {
	db, p, ctx := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites()), newRepos(t).projects, t.Context()
	id := must(p.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row.ID
	tx := oldSnapshot(t, db)
	del := must(p.Delete(ctx, db, id))
	if err := must(cascade.NewWorker(db, onlyProjects(), cascade.Config{})).Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if again, err := p.Delete(ctx, tx, id); err != nil || again.JobID != del.JobID {
		t.Errorf("deleted again in an old snapshot: %+v, %v; the first %+v", again, err, del)
	}
	if _, err := p.CancelDelete(ctx, tx, id); !errors.Is(err, repo.ErrTooLate) {
		t.Errorf("cancelled in an old snapshot: %v", err)
	}
}
