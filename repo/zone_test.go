package repo_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/zonetest"
	"github.com/onerow/onerow/repo"
)

// TestClocks: what the verbs write is UTC whatever the session's time zone.
func TestClocks(t *testing.T) {
	r := newRepos(t)
	zonetest.Clocks(t, func(t *testing.T, zone dbtest.Option) (*sql.DB, []crashtest.Workflow) {
		dsn := dbtest.DSN(t, zone)
		db := dbtest.OpenDSN(t, dsn)
		makeTables(t, db)
		var all []crashtest.Workflow
		hide := verb{"delete archived, with grace", archived, func(ctx context.Context, r repos, db *sql.DB) error {
			return second(r.projects.Delete(ctx, db, 1, repo.Grace(time.Hour)))
		}, false, 0}
		for _, v := range append(verbs[:len(verbs):len(verbs)], hide) {
			all = append(all, workflow(v, r, dsn))
		}
		return db, all
	})
}
