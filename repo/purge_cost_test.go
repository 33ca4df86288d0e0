package repo_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
)

// TestPurgeRequestsCost: a purge reads and locks what it forgets, however many requests there are, and
// however many of them are old.
func TestPurgeRequestsCost(t *testing.T) {
	filled := func(n int, level sql.IsolationLevel) string {
		dsn := dbtest.DSN(t, dbtest.Isolation(level))
		db := dbtest.OpenDSN(t, dsn)
		if err := migrations.Up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{
			"INSERT INTO onerow_request (resource, owner, request_id, fingerprint, call_token, created_at) " + cost.Numbers(n) +
				"SELECT 'project', i % 10, i * 7919 % 100003, '', '', UTC_TIMESTAMP(6) - INTERVAL i SECOND FROM numbers",
			"ANALYZE TABLE onerow_request",
		} {
			must(db.ExecContext(t.Context(), query))
		}
		return dsn
	}
	for _, level := range levels {
		few, many := filled(cost.Few, level), filled(cost.Many(t), level)
		for _, age := range []time.Duration{time.Microsecond, 500 * time.Second} {
			for _, s := range cost.Flat(t, few, many, func(ctx context.Context, db *sql.DB) error {
				if n := must(repo.RequestsToPurge(ctx, db, age, 30)); n != 30 {
					return fmt.Errorf("%d to purge", n)
				}
				if n := must(repo.PurgeRequests(ctx, db, age, 20)); n != 20 {
					return fmt.Errorf("%d forgotten", n)
				}
				return nil
			}) {
				if t.Logf("%s: %s", level, s); s.Read > 100 || s.Locked > 60 {
					t.Errorf("%s, older than %v: %s, for 20", level, age, s)
				}
			}
		}
	}
}
