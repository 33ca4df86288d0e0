package repo_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// TestCancelJob: a deletion that has begun is ended. The row is back, the rest of what was below it is where it was, and the
// job says what is gone; the trash brings that back, and without it a second deletion takes the rest.
func TestCancelJob(t *testing.T) {
	db, ctx := open(t), t.Context()
	kept, work := keeping(t, db)
	r := newReposOf(t, kept)
	project := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "Summer"})).Row
	for i := range 5 {
		must(r.screens.Create(ctx, db, Screen{ProjectID: project.ID, Filename: fmt.Sprint("a", i, ".png")}))
	}
	del := must(r.projects.Delete(ctx, db, project.ID))
	begun := func(id int64) {
		t.Helper()
		w := must(cascade.NewWorker(db, kept, cascade.Config{Batch: 1, Chunk: 1, Target: -1, Assets: stays{}, Progress: true, OnEvent: progressed(func(job queue.Job) {
			if job.State == queue.Running && job.DeletedRows == 2 {
				must(queue.PauseJob(ctx, db, id, "wait"))
			}
		})}))
		if err := w.Drain(ctx); err != nil {
			t.Fatal(err)
		}
	}
	begun(del.JobID)
	if n := count(t, db, "SELECT COUNT(*) FROM screen"); n != 3 {
		t.Fatalf("%d screens are left", n)
	}
	if _, err := repo.Restore(ctx, db, kept, del.DeletionID); !errors.Is(err, repo.ErrTooLate) {
		t.Errorf("a job that has begun was undone: %v", err)
	}
	for call := range 2 {
		back, job, err := repo.CancelJob(ctx, db, kept, del.JobID)
		if err != nil || job.State != queue.Cancelled || job.Tables["screen"] != 2 || back.Changed != (call == 0) || call == 0 && (back.State != schema.Active || back.Name != "Summer") {
			t.Fatalf("call %d: %+v, %+v, %v", call, back, job, err)
		}
	}
	if n := work(); n != 1+3 {
		t.Errorf("%d rows are left", n)
	}
	if row := must(r.projects.Get(ctx, db, project.ID)); row.Name != "Summer" {
		t.Errorf("%+v", row)
	}
	if _, p, err := recover.Job(ctx, db, kept, del.JobID, recover.Options{}); err != nil || p.Rows != 2 || p.Stuck > 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM screen"); n != 5 {
		t.Errorf("%d screens came back", n)
	}
	again := must(r.projects.Delete(ctx, db, project.ID))
	begun(again.JobID)
	if _, _, err := repo.CancelJob(ctx, db, kept, del.JobID); err != nil {
		t.Error(err) // the earlier one was cancelled
	}
	if _, job, err := repo.CancelJob(ctx, db, kept, again.JobID); err != nil || job.State != queue.Cancelled {
		t.Error(job, err)
	}
	last := must(r.projects.Delete(ctx, db, project.ID))
	if n := work(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	if _, _, err := repo.CancelJob(ctx, db, kept, last.JobID); !errors.Is(err, queue.ErrWrongState) {
		t.Errorf("a job that is done was cancelled: %v", err)
	}
	if _, _, err := repo.CancelJob(ctx, db, kept, 4711); !errors.Is(err, queue.ErrNoJob) {
		t.Error(err)
	}
}

// progressed hears of jobs alone.
func progressed(f func(queue.Job)) func(cascade.Event) {
	return func(e cascade.Event) {
		if e.Progress != nil {
			f(*e.Progress)
		}
	}
}
