package quota_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/quota"
)

// TestCostsAmongOwners: what is read and locked does not grow where each of many owners has a thousand rows,
// which an optimizer may think are few enough to sort.
func TestCostsAmongOwners(t *testing.T) {
	for _, o := range orders {
		t.Run(fmt.Sprint(o), func(t *testing.T) {
			db, dsn := open(t, o)
			dbtest.Exec(t, db, "INSERT INTO project (user_id, position, is_over_quota, created_at, updated_at) "+cost.Numbers(10_000)+
				"SELECT (i + 999) DIV 1000, i, (i + 999) MOD 1000 >= 5, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM numbers")
			dbtest.Exec(t, db, "INSERT INTO user (id, projects) "+cost.Numbers(10)+"SELECT i, 5 FROM numbers")
			dbtest.Exec(t, db, "ANALYZE TABLE project, user")
			rule := o.rule(t)
			settle := func(ctx context.Context, db *sql.DB) error {
				var errs []error
				for owner := range int64(3) {
					errs = append(errs, onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return quota.Mark(ctx, tx, "project", 4+owner) }),
						rule.Settle(ctx, db, 4+owner))
				}
				return errors.Join(errs...)
			}
			if err := settle(t.Context(), db); err != nil { // in whatever order they were counted
				t.Fatal(err)
			}
			for range 2 {
				for _, s := range cost.Of(t, dsn, settle) {
					if s.Read > 20 || s.Locked > 20 {
						t.Errorf("%d rows are read and %d locked: %s", s.Read, s.Locked, s.SQL)
					}
				}
				dbtest.Exec(t, db, "UPDATE user SET projects = 4")
			}
		})
	}
}
