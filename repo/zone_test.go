package repo_test

import (
	"database/sql"
	"testing"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/zonetest"
)

// TestClocks: what the verbs write is UTC whatever the session's time zone.
func TestClocks(t *testing.T) {
	r := newRepos(t)
	zonetest.Clocks(t, func(t *testing.T, zone dbtest.Option) (*sql.DB, []crashtest.Workflow) {
		dsn := dbtest.DSN(t, zone)
		db := dbtest.OpenDSN(t, dsn)
		makeTables(t, db)
		var all []crashtest.Workflow
		for _, v := range verbs {
			all = append(all, workflow(v, r, dsn))
		}
		return db, all
	})
}
