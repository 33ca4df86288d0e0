package limit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/repo"
)

// TestCascade: what a worker deletes is noted in its batch, and counted by the sweep or by a create that would
// be refused.
func TestCascade(t *testing.T) {
	db, _ := open(t)
	s, ctx := newShop(t), t.Context()
	s.allow(t, db, 7, 3, 100)
	worker := must(cascade.NewWorker(db, plan, cascade.Config{}))
	drain := func() {
		t.Helper()
		if err := worker.Drain(ctx); err != nil {
			t.Fatal(err)
		}
	}
	project := func() int64 { return must(s.projects.Create(ctx, db, Project{UserID: 7})).Row.ID }
	note := func(project int64) error {
		return second(s.below.Create(ctx, db, Note{UserID: 7, ProjectID: project}))
	}
	noted := func() int { // of those that have been counted before
		return dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_limit WHERE counted_at IS NULL AND room > -10000")
	}
	first, other := project(), project()
	must(0, errors.Join(note(first), note(first), note(first)))
	wantFull(t, note(other), limit.Error{Limit: "notes", Owner: "7", Wanted: 1, Used: 3, Max: 3})
	must(s.projects.Delete(ctx, db, first))
	wantFull(t, note(other), limit.Error{Limit: "notes", Owner: "7", Wanted: 1, Used: 3, Max: 3}) // they are still there
	drain()
	if noted() != 1 {
		t.Errorf("%d owners noted", noted())
	}
	must(0, errors.Join(note(other), note(other), note(other)))
	wantFull(t, note(other), limit.Error{Limit: "notes", Owner: "7", Wanted: 1, Used: 3, Max: 3})

	// A hidden row keeps its place until the worker has deleted it; another user's room is not touched.
	s.allow(t, db, 8, 1, 100)
	hidden := must(s.create(ctx, db, 8, "a", 60))
	must(s.files.Delete(ctx, db, hidden.ID, repo.Grace(time.Microsecond)))
	_, err := s.create(ctx, db, 8, "b", 60)
	wantFull(t, err, limit.Error{Limit: "file", Owner: "8", Wanted: 1, Used: 1, Max: 1, Hidden: 1})
	drain()
	if noted() != 2 {
		t.Errorf("%d owners noted", noted())
	}
	res := must(limit.NewSweeper(db, limit.Config{Every: -1}, s.number, s.bytes, s.notes).RunOnce(ctx))
	if res.Counted < 2 || res.Corrected != 0 || noted() != 0 {
		t.Errorf("%+v, %d noted", res, noted())
	}
	must(s.create(ctx, db, 8, "b", 60))
	s.wantRoom(t, db, 8)
	if err := limit.NewSweeper(db, limit.Config{}).Run(ended(ctx)); err != nil {
		t.Error(err)
	}
}

func ended(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}
