package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// TestSnapshotRefused: see racetest.Refused.
func TestSnapshotRefused(t *testing.T) {
	db, p, ctx := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.SnapshotConflicts(t)), newRepos(t).projects, t.Context()
	const look = "SELECT COUNT(*) FROM project"
	a := Project{UserID: 1, Name: "A"}
	racetest.Refused(t, db, look, func() error { return second(p.Create(ctx, db, a, repo.RequestID("r"))) },
		func(ctx context.Context, tx *onerow.Tx) error {
			return second(p.Create(ctx, tx, a, repo.RequestID("r")))
		})
	id := must(p.Create(ctx, db, a, repo.RequestID("r"))).Row.ID
	racetest.Refused(t, db, look, func() error { return second(p.Delete(ctx, db, id, repo.Grace(time.Hour))) },
		func(ctx context.Context, tx *onerow.Tx) error { return second(p.CancelDelete(ctx, tx, id)) })
	var deletion int64
	racetest.Refused(t, db, "SELECT COUNT(*) FROM onerow_deletion", func() error {
		del, err := p.Delete(ctx, db, id, repo.Grace(time.Hour))
		deletion = del.DeletionID
		return err
	}, func(ctx context.Context, tx *onerow.Tx) error { return second(repo.Restore(ctx, tx, plan(), deletion)) })
	racetest.Refused(t, db, look, func() error { return second(p.Delete(ctx, db, id)) },
		func(ctx context.Context, tx *onerow.Tx) error { return second(p.Delete(ctx, tx, id)) })
}

// TestBehindASnapshot: what others have committed since the snapshot of a caller's transaction is replayed,
// named as what is in the way, and stepped past.
func TestBehindASnapshot(t *testing.T) {
	db, p, ctx := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites()), newRepos(t).projects, t.Context()
	named := func(name string) Project { return Project{UserID: 1, Name: name} }
	create := func(name string, opts ...repo.CreateOption) int64 {
		return must(p.Create(ctx, db, named(name), opts...)).Row.ID
	}
	code := int64(5)
	e := create("E")
	must(p.Archive(ctx, db, e))
	var id int64 // of what others have made
	for name, c := range map[string]struct {
		others func()
		call   func(name string, tx *sql.Tx)
	}{
		"a request that was answered": {func() {
			id = create("A", repo.RequestID("a"))
			must(p.Archive(ctx, db, id))
		}, func(name string, tx *sql.Tx) {
			if res, err := p.Create(ctx, tx, named("A"), repo.RequestID("a")); err != nil || !res.Replayed || res.Row.ID != id || res.Row.State != schema.Archived {
				t.Errorf("%s: %+v, %v", name, res, err)
			}
		}},
		"a name that is taken": {func() { id = create("B") }, func(name string, tx *sql.Tx) {
			var taken *repo.NameTakenError
			if _, err := p.Create(ctx, tx, named("B")); !errors.As(err, &taken) || taken.ID != id {
				t.Errorf("%s: %v", name, err)
			}
		}},
		"a code that is taken": {func() { id = must(p.Create(ctx, db, Project{UserID: 1, Name: "C", Code: &code})).Row.ID }, func(name string, tx *sql.Tx) {
			var conflict *repo.ConflictError
			if _, err := p.Create(ctx, tx, Project{UserID: 1, Name: "D", Code: &code}); !errors.As(err, &conflict) || conflict.HolderID != id {
				t.Errorf("%s: %v", name, err)
			}
		}},
		"a name with copies": {func() { create("E"); create("E (Copy 1)") }, func(name string, tx *sql.Tx) {
			if res, err := p.Activate(ctx, tx, e); err != nil || res.Row.Name != "E (Copy 2)" {
				t.Errorf("%s: %+v, %v", name, res.Row, err)
			}
		}},
	} {
		tx := must(db.BeginTx(ctx, nil))
		dbtest.Scan[int](t, tx, "SELECT (SELECT COUNT(*) FROM project) + (SELECT COUNT(*) FROM project_archive)")
		c.others()
		c.call(name, tx)
		if err := tx.Commit(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
