package repo_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
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
