//go:build !race

package repo_test

import (
	"fmt"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/repo"
)

// TestAllocations holds how many the calls make that are made most. The race detector makes others.
func TestAllocations(t *testing.T) {
	dsn := dbtest.DSN(t)
	makeTables(t, dbtest.OpenDSN(t, dsn))
	db := must(pool.Open(dsn))
	defer func() { must(0, db.Close()) }()
	r, ctx, n := newRepos(t), t.Context(), 0
	p := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row
	create := func(opts ...repo.CreateOption) error {
		n++
		return second(r.slim.Create(ctx, db, Slim{UserID: 1, Name: fmt.Sprint("slim ", n)}, opts...))
	}
	racetest.Allocations(t, "create", 80, func() error { return create() })
	racetest.Allocations(t, "create with a request id", 106, func() error { return create(repo.RequestID(fmt.Sprint("r", n))) })
	racetest.Allocations(t, "get", 44, func() error { return second(r.projects.Get(ctx, db, p.ID)) })
	racetest.Allocations(t, "a page of 50", 742, func() error { return second(r.projects.List(ctx, db, 1, repo.PageOptions{})) })
	racetest.Allocations(t, "archive and activate", 379, func() error {
		must(r.projects.Archive(ctx, db, p.ID))
		return second(r.projects.Activate(ctx, db, p.ID))
	})
}
