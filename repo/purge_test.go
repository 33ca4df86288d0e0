package repo_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/zonetest"
	"github.com/onerow/onerow/repo"
)

func TestPurgeRequests(t *testing.T) {
	db, ctx := open(t), t.Context()
	p := newRepos(t).projects
	for i := range 5 {
		must(p.Create(ctx, db, Project{UserID: 1, Name: fmt.Sprint("p", i)}, repo.RequestID(fmt.Sprint(i))))
	}
	must(db.ExecContext(ctx, "UPDATE onerow_request SET created_at = created_at - INTERVAL 2 DAY WHERE request_id < '3'"))
	for i, want := range []int64{2, 1, 0} {
		if n := must(repo.PurgeRequests(ctx, db, 24*time.Hour, 2)); n != want {
			t.Errorf("purge %d forgot %d, want %d", i, n, want)
		}
	}
	if res := must(p.Create(ctx, db, Project{UserID: 1, Name: "p4"}, repo.RequestID("4"))); !res.Replayed {
		t.Error("a young request was forgotten")
	}
	if _, err := repo.PurgeRequests(ctx, db, 0, 1); err == nil {
		t.Error("an age of 0 was taken")
	}
}

// TestPurgeRequestsInEachZone: a request a minute too young stays, one a minute older goes.
func TestPurgeRequestsInEachZone(t *testing.T) {
	p := newRepos(t).projects
	zonetest.Each(t, func(t *testing.T, zone dbtest.Option) {
		db, ctx := open(t, zone), t.Context()
		for _, id := range []string{"old", "young"} {
			must(p.Create(ctx, db, Project{UserID: 1, Name: id}, repo.RequestID(id)))
		}
		must(db.ExecContext(ctx, "UPDATE onerow_request SET created_at = created_at - INTERVAL 24 HOUR + INTERVAL IF(request_id = 'old', -1, 1) MINUTE"))
		if n := must(repo.RequestsToPurge(ctx, db, 24*time.Hour, 10)); n != 1 {
			t.Errorf("%d are to be forgotten", n)
		}
		if n := must(repo.PurgeRequests(ctx, db, 24*time.Hour, 10)); n != 1 {
			t.Errorf("%d were forgotten", n)
		}
		if res := must(p.Create(ctx, db, Project{UserID: 1, Name: "young"}, repo.RequestID("young"))); !res.Replayed {
			t.Error("a young request was forgotten")
		}
	})
}

// TestDeleteAfterPurge: when its job and its audit are purged, a deletion of a row that is gone succeeds
// without a job and logs nothing; and what a hold keeps, it keeps.
func TestDeleteAfterPurge(t *testing.T) {
	db, ctx := open(t), t.Context()
	p := newRepos(t).projects
	gone := must(p.Create(ctx, db, Project{UserID: 1, Name: "gone"})).Row.ID
	held := must(p.Create(ctx, db, Project{UserID: 1, Name: "held"})).Row.ID
	must(p.Delete(ctx, db, gone))
	hidden := must(p.Delete(ctx, db, held, repo.Grace(1000*24*time.Hour)))
	w := must(cascade.NewWorker(db, plan(), cascade.Config{Assets: nothingStored{}}))
	if err := w.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if again := must(p.Delete(ctx, db, gone)); again.JobID == 0 || again.Changed {
		t.Errorf("while the job is kept: %+v", again)
	}
	must(db.ExecContext(ctx, "UPDATE onerow_job_archive SET finished_at = finished_at - INTERVAL 401 DAY"))
	must(db.ExecContext(ctx, "UPDATE onerow_deletion SET requested_at = requested_at - INTERVAL 401 DAY"))
	const age = queue.DefaultKeep
	if n := must(queue.PurgeJobs(ctx, db, age, 10, false)); n != 1 {
		t.Errorf("%d jobs are purged", n)
	}
	if n := must(queue.PurgeDeletions(ctx, db, age, 10, false)); n != 1 {
		t.Errorf("%d audits are purged, want that of the row that is gone", n)
	}
	again, err := p.Delete(ctx, db, gone)
	if err != nil || again.JobID != 0 || again.DeletionID != 0 || again.Changed || count(t, db, "SELECT COUNT(*) FROM onerow_job WHERE deletion_id <> ?", hidden.DeletionID) != 0 ||
		count(t, db, "SELECT COUNT(*) FROM onerow_deletion") != 1 {
		t.Errorf("a deletion after the purge: %+v, %v", again, err)
	}
	if _, err := p.CancelDelete(ctx, db, gone); !errors.Is(err, onerow.ErrNotFound) {
		t.Errorf("a cancel after the purge: %v", err)
	}
	if _, err := repo.Restore(ctx, db, plan(), hidden.DeletionID); err != nil {
		t.Errorf("an undo within its grace period: %v", err)
	}
}

type nothingStored struct{}

func (nothingStored) Delete(context.Context, []string) error { return nil }
