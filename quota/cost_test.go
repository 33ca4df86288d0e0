package quota_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

// filled is a schema with an owner of as many rows, and as many owners of one row, all marked, and all
// changed at one time.
func filled(t *testing.T, o order, rows int, level sql.IsolationLevel) string {
	db, dsn := open(t, o, dbtest.Isolation(level))
	for _, owner := range []string{"1", "1000 + i"} {
		dbtest.Exec(t, db, "INSERT INTO project (user_id, position, is_over_quota, created_at, updated_at) "+cost.Numbers(rows)+
			"SELECT "+owner+", i, "+owner+" = 1 AND i <> 3 AND i <> "+fmt.Sprint(rows-2)+", UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM numbers")
	}
	dbtest.Exec(t, db, "INSERT INTO onerow_quota_mark (resource, owner, created_at) "+cost.Numbers(rows)+"SELECT 'project', 1000 + i, UTC_TIMESTAMP(6) FROM numbers")
	dbtest.Exec(t, db, "INSERT INTO onerow_quota_owner (resource, owner, generation, changed_at) "+cost.Numbers(rows)+"SELECT 'project', 1000 + i, 1, UTC_TIMESTAMP(6) FROM numbers")
	dbtest.Exec(t, db, "INSERT INTO user (id, projects) "+cost.Numbers(rows)+"SELECT 1000 + i, 5 FROM numbers")
	dbtest.Exec(t, db, "INSERT INTO user (id, projects) VALUES (1, 2)")
	for _, table := range ticketPlan().DDL() {
		dbtest.Exec(t, db, table)
	}
	dbtest.Exec(t, db, "INSERT INTO ticket (id, user_id, is_over_quota, created_at, updated_at) "+cost.Numbers(rows)+
		"SELECT UNHEX(LPAD(HEX(i), 32, '0')), '1', i <> 3, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM numbers")
	dbtest.Exec(t, db, "INSERT INTO ticket (id, user_id, is_over_quota, created_at, updated_at) "+cost.Numbers(rows)+
		"SELECT UNHEX(LPAD(HEX(1000000 + i), 32, '0')), CONCAT('o', i), 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM numbers")
	dbtest.Exec(t, db, "ANALYZE TABLE ticket, project, onerow_quota_mark, onerow_quota_owner, user")
	return dsn
}

// ticketPlan has rows with UUIDs, and owners in text.
func ticketPlan() schema.Plan {
	return schema.Plan{Resources: []schema.Resource{{
		Name: "ticket", IDType: "BINARY(16)", Owner: "user_id", OwnerType: "VARCHAR(40)", Quota: schema.Quota{Flag: "is_over_quota"},
	}}}
}

// TestCosts: what is read and locked depends neither on the other owners, nor on how many rows the owner has
// on the right side.
func TestCosts(t *testing.T) {
	for _, o := range []order{orders[0], orders[3]} {
		rule := o.rule(t)
		for _, level := range levels {
			c := cost.Compare(t, filled(t, o, cost.Few, level), filled(t, o, cost.Many(t), level), 60)
			limit := func(n any, then func(ctx context.Context, db *sql.DB) error) func(ctx context.Context, db *sql.DB) error {
				return func(ctx context.Context, db *sql.DB) error {
					_, err := db.ExecContext(ctx, "UPDATE user SET projects = ? WHERE id = 1", n)
					return errors.Join(err, then(ctx, db))
				}
			}
			again := func(ctx context.Context, db *sql.DB) error {
				return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return quota.Mark(ctx, tx, "project", 1) })
			}
			settle := func(ctx context.Context, db *sql.DB) error {
				return errors.Join(again(ctx, db), rule.Settle(ctx, db, 1))
			}
			c.Call(o.String()+", first", settle)
			c.Call("one more", limit(3, settle))
			c.Call("nothing wrong", settle)
			c.Call("none", limit(0, settle))
			c.Call("recalculate, joined", func(ctx context.Context, db *sql.DB) error {
				return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
					_, err := rule.Recalculate(ctx, tx, 1)
					return err
				})
			})
			s := map[*sql.DB]*quota.Sweeper{}
			c.Call("sweep", func(ctx context.Context, db *sql.DB) error {
				s[db] = quota.NewSweeper(db, quota.Config{Batch: 10, Recheck: time.Hour, RecheckEvery: time.Nanosecond}, rule)
				var err error
				for range 3 {
					res, e := s[db].RunOnce(ctx)
					if err = errors.Join(err, e); res.Recalculated != 10 || res.Rechecked != 10 {
						err = errors.Join(err, fmt.Errorf("%+v", res))
					}
				}
				return err
			})
			tickets := func(limit int) func(ctx context.Context, db *sql.DB) error {
				return func(ctx context.Context, db *sql.DB) error {
					rule, err := quota.New(ticketPlan(), "ticket", func(context.Context, *onerow.Tx, any) (int, error) { return limit, nil })
					if err != nil {
						return err
					}
					return errors.Join(quota.Mark(ctx, db, "ticket", "1"), rule.Settle(ctx, db, "1"))
				}
			}
			c.Call("tickets, first", tickets(2))
			c.Call("tickets, one more", tickets(3))
			c.Call("tickets, one less", tickets(2))
			known := map[string]string{}
			if o.by == "" {
				known["SELECT t.…, 1 FROM"] = "for another order"
			}
			c.Source(".", known)
		}
	}
}
