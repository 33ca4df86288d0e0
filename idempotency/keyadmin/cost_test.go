package keyadmin_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// filled is a schema with as many keys of one operation in each state, a few of the finished ones expired,
// and as many admissions.
func filled(t *testing.T, rows int, level sql.IsolationLevel) string {
	db, dsn := open(t, dbtest.Isolation(level))
	dbtest.Exec(t, db, "INSERT INTO onerow_key (tenant, operation, idem_key, status, attention, expected_completion, token, call_token, locked_by, created_at, locked_at, codec, result, expires_at) "+
		cost.Numbers(rows)+`SELECT '7', 'charge', CONCAT('k', i), ELT(1 + i % 6, 'complete', 'error', 'error', 'in_progress', 'in_progress', 'in_progress'), i % 6 = 1,
		UTC_TIMESTAMP(6) + INTERVAL IF(i % 6 = 3, NULL, IF(i % 6 = 4, 3600, 0) - i) SECOND,
		1, '', 'x', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'json', '{}', UTC_TIMESTAMP(6) + INTERVAL IF(i % 6 > 2, NULL, IF(i <= 24, -i, 86400)) SECOND FROM numbers`)
	dbtest.Exec(t, db, "INSERT INTO onerow_admission (tenant, operation, idem_key, call_token, admitted_at, until_at) "+cost.Numbers(rows)+
		"SELECT '7', 'charge', CONCAT('k', i), '', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL IF(i % 10 = 0, -i, 86400) SECOND FROM numbers")
	dbtest.Exec(t, db, "ANALYZE TABLE onerow_key, onerow_admission")
	return dsn
}

// TestCosts: what a call reads and locks does not depend on how many keys there are, in whatever state.
func TestCosts(t *testing.T) {
	keys := newKeys(t, idempotency.Config{})
	ann := must(keyadmin.NewOperator(keys, "ann", "why"))
	for _, level := range levels {
		c := cost.Compare(t, filled(t, cost.Few, level), filled(t, cost.Many(t), level), 60)
		for _, what := range []keyadmin.ListOptions{{Status: idempotency.InProgress}, {Status: idempotency.InProgress, Waiting: true}, {Status: idempotency.Failed, Waiting: true}, {Status: idempotency.Failed}} {
			c.Call(fmt.Sprintf("list %s, waiting %t", what.Status, what.Waiting), func(ctx context.Context, db *sql.DB) error {
				var after idempotency.Entry
				for range 3 {
					page, err := keyadmin.List(ctx, db, keyadmin.ListOptions{Status: what.Status, Waiting: what.Waiting, Limit: 20, After: after})
					if err != nil || len(page) < 20 {
						return errors.Join(err, fmt.Errorf("%d on a page", len(page)))
					}
					after = page[19]
				}
				return nil
			})
		}
		for _, verb := range []struct {
			name string
			do   func(ctx context.Context, db *sql.DB, seen idempotency.Entry) error
		}{
			{"release", func(ctx context.Context, db *sql.DB, seen idempotency.Entry) error { return ann.Release(ctx, db, seen) }},
			{"complete", func(ctx context.Context, db *sql.DB, seen idempotency.Entry) error {
				return ann.Complete(ctx, db, seen, 0)
			}},
			{"expire", func(ctx context.Context, db *sql.DB, seen idempotency.Entry) error { return ann.Expire(ctx, db, seen) }},
		} {
			c.Call("an operator's "+verb.name, func(ctx context.Context, db *sql.DB) error {
				keys := newKeys(t, idempotency.Config{}) // which have seen no key end
				claim, _, err := idempotency.Begin[int](ctx, db, keys, key("operator's "+verb.name))
				if err == nil && verb.name != "release" {
					err = keys.Fail(ctx, db, claim, errors.New("no"))
				}
				if err != nil {
					return err
				}
				e, err := keyadmin.Find(ctx, db, key("operator's "+verb.name))
				if err != nil {
					return err
				}
				return errors.Join(verb.do(ctx, db, e), verb.do(ctx, db, e), second(keyadmin.Audit(ctx, db, e.Key)))
			})
		}
		c.Call("purge", func(ctx context.Context, db *sql.DB) error {
			n, err := keyadmin.Purge(ctx, db, keys, 20)
			if err == nil && n != 20 {
				err = fmt.Errorf("%d purged", n)
			}
			return err
		})
		c.Call("purge audits", func(ctx context.Context, db *sql.DB) error { return second(keyadmin.PurgeAudits(ctx, db, 0, 20)) })
		c.Source(".", map[string]string{"SELECT (SELECT COUNT(*)": "Measure counts the keys in three states"})
	}
}
