//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema/live"
)

// What one node acknowledged is used on the next one at once: nothing is "not there".
func TestHandoff(t *testing.T) {
	s := newSite(t, plan.DDL()...)
	projects := must[*repo.Repo[project]](t)(repo.New[project](plan, "project"))
	screens := must[*repo.Repo[screen]](t)(repo.New[screen](plan, "screen"))
	keys := must[*idempotency.Keys](t)(idempotency.New(idempotency.Config{}))
	var rounds atomic.Int64
	end := time.Now().Add(8 * time.Second)
	s.crowd(2, func(ctx context.Context, db *sql.DB, caller int) error {
		other := s.db[(caller+1)%len(s.db)]
		for i := 0; time.Now().Before(end); i++ {
			k := fmt.Sprintf("%d of %d", i, caller)
			made, err := projects.Create(ctx, db, project{UserID: int64(caller), Name: k})
			if err != nil {
				return fmt.Errorf("create: %w", err)
			}
			if _, err := screens.Create(ctx, other, screen{ProjectID: made.Row.ID, Name: k}); err != nil {
				return fmt.Errorf("create below what another node has just made: %w", err)
			}
			gone, err := projects.Delete(ctx, other, made.Row.ID)
			if err != nil || !gone.Changed {
				return fmt.Errorf("delete what another node has just made: %+v, %w", gone, err)
			}
			claim, _, err := idempotency.Begin[string](ctx, db, keys, idempotency.Key{Operation: "h", ID: k})
			if err != nil {
				return fmt.Errorf("begin: %w", err)
			}
			if err := keys.Complete(ctx, other, claim, "done"); err != nil {
				return fmt.Errorf("complete what was begun on another node: %w", err)
			}
			rounds.Add(1)
		}
		return nil
	})
	t.Log(rounds.Load(), "rounds of 3 hand-overs")
	if n := dbtest.Scan[int](t, s.db[0], "SELECT COUNT(*) FROM project"); n != 0 {
		t.Errorf("%d rows that were deleted are there", n)
	}
	s.same()
}

// The tables are made from all nodes at once.
func TestMigrations(t *testing.T) {
	s := emptySite(t)
	s.crowd(1, func(ctx context.Context, db *sql.DB, _ int) error { return migrations.Up(ctx, db) })
	for _, stmt := range plan.DDL() {
		dbtest.Exec(t, s.db[0], stmt)
	}
	for i, db := range s.db {
		if err := live.Verify(t.Context(), db, plan); err != nil {
			t.Errorf("node %d: %v", i, err)
		}
	}
	s.same()
}
