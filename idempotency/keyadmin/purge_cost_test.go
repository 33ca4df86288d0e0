package keyadmin_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// aged is a schema with keys, admissions and audits, a second apart, the last ones of now.
func aged(t *testing.T, n int, level sql.IsolationLevel) string {
	db, dsn := open(t, dbtest.Isolation(level))
	const moment = "UTC_TIMESTAMP(6) - INTERVAL i SECOND"
	dbtest.Exec(t, db, "INSERT INTO onerow_key (tenant, operation, idem_key, status, token, call_token, locked_by, created_at, locked_at, expires_at) "+cost.Numbers(n)+
		"SELECT i % 10, 'op', i * 7919 % 100003, 'complete', i, '', 'w', "+moment+", "+moment+", "+moment+" FROM numbers")
	dbtest.Exec(t, db, "INSERT INTO onerow_admission "+cost.Numbers(n)+"SELECT i % 10, 'op', i * 7919 % 100003, '', "+moment+", "+moment+" FROM numbers")
	dbtest.Exec(t, db, "INSERT INTO onerow_key_audit "+cost.Numbers(n)+"SELECT i % 10, 'op', i * 7919 % 100003, i, 'expire', 'complete', 'ann', 'why', "+moment+" FROM numbers")
	dbtest.Exec(t, db, "ANALYZE TABLE onerow_key, onerow_admission, onerow_key_audit")
	return dsn
}

// TestPurgeCost: a purge reads and locks what it removes, however many rows there are, and however many of
// them are old.
func TestPurgeCost(t *testing.T) {
	keys := newKeys(t, idempotency.Config{})
	for _, level := range levels {
		few, many := aged(t, cost.Few, level), aged(t, cost.Many(t), level)
		for name, call := range map[string]func(ctx context.Context, db *sql.DB) (int64, error){
			"keys": func(ctx context.Context, db *sql.DB) (int64, error) {
				n, err := keyadmin.Purge(ctx, db, keys, 20)
				return int64(n), err
			},
			"audits": func(ctx context.Context, db *sql.DB) (int64, error) {
				return keyadmin.PurgeAudits(ctx, db, 500*time.Second, 20)
			},
			"waiting": func(ctx context.Context, db *sql.DB) (int64, error) {
				n, err := keyadmin.ToPurge(ctx, db, 10)
				return int64(n), err
			},
			"waiting audits": func(ctx context.Context, db *sql.DB) (int64, error) {
				return keyadmin.AuditsToPurge(ctx, db, time.Second, 20)
			},
		} {
			for _, s := range cost.Flat(t, few, many, func(ctx context.Context, db *sql.DB) error {
				n, err := call(ctx, db)
				if err == nil && n != 20 {
					err = fmt.Errorf("%d purged", n)
				}
				return err
			}) {
				if t.Logf("%s, %s: %s", level, name, s); s.Read > 100 || s.Locked > 60 {
					t.Errorf("%s, %s: %s, for 20", level, name, s)
				}
			}
		}
	}
}

// TestPurgeAudits: the old ones go, oldest first.
func TestPurgeAudits(t *testing.T) {
	db, _ := open(t)
	dbtest.Exec(t, db, "INSERT INTO onerow_key_audit "+cost.Numbers(1000)+"SELECT 't', 'op', i, i, 'expire', 'complete', 'ann', 'why', UTC_TIMESTAMP(6) - INTERVAL IF(i <= 300, 400, 1) DAY - INTERVAL i SECOND FROM numbers")
	for _, want := range []int64{250, 50, 0} {
		if n, err := keyadmin.PurgeAudits(t.Context(), db, 399*24*time.Hour, 250); n != want || err != nil {
			t.Errorf("purged %d, %v; want %d", n, err, want)
		}
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_key_audit WHERE idem_key + 0 > 300"); n != 700 {
		t.Errorf("%d young ones are left", n)
	}
}
