package main

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/quota"
)

// sqlOwned gives an owner so many rows.
const sqlOwned = `INSERT INTO project (user_id, name, name_key, stem_key, copy_no, created_at, updated_at)
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
SELECT 1, CONCAT('p', k), CONCAT('p', k), CONCAT('p', k), 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM (SELECT a.i * 100 + b.i AS k FROM n AS a JOIN n AS b) AS numbers`

// sqlResetAll writes the flag of all rows of the owner that have the wrong one.
const sqlResetAll = `UPDATE project AS p JOIN (SELECT id, ROW_NUMBER() OVER (ORDER BY created_at, id) > ? AS flag FROM project WHERE user_id = 1) AS want ON want.id = p.id
SET p.is_over_quota = want.flag WHERE p.is_over_quota <> want.flag`

// sqlAtLimit walks the entries of an index, and no rows.
const sqlAtLimit = `SELECT id FROM project WHERE user_id = 1 ORDER BY id LIMIT 1 OFFSET ?`

// quotas move the limit of an owner of 10,000 rows up and down by one.
func quotas(ctx context.Context, s *site) ([]way, error) {
	if _, err := openShop(ctx, s); err != nil {
		return nil, err
	}
	if err := s.exec(ctx, sqlOwned, "ANALYZE TABLE project"); err != nil {
		return nil, err
	}
	var limit atomic.Int64
	limit.Store(5000)
	rule, err := quota.New(shop, "project", func(context.Context, *onerow.Tx, any) (int, error) { return int(limit.Load()), nil })
	if err != nil {
		return nil, err
	}
	if _, err := rule.Recalculate(ctx, s.apart, 1); err != nil {
		return nil, err
	}
	var edge int64
	if err := s.apart.QueryRowContext(ctx, "SELECT id FROM project WHERE user_id = 1 ORDER BY id LIMIT 1 OFFSET 5000").Scan(&edge); err != nil {
		return nil, err
	}
	move := func(n int64) int64 {
		limit.Store(5000 + n%2)
		return limit.Load()
	}
	const one = "one UPDATE of the row that moves"
	set := statement{"UPDATE project SET is_over_quota = 1 - is_over_quota WHERE id = ?", []any{edge}}
	return []way{
		{name: one, call: func(ctx context.Context, _ int, _ int64) error { return send(ctx, s.db, set) }},
		{name: byHand + ", resetting all", call: func(ctx context.Context, _ int, n int64) error {
			return inTx(ctx, s.db, func(tx *sql.Tx) error { return send(ctx, tx, statement{sqlResetAll, []any{move(n)}}) })
		}},
		{name: byHand + ", only finding the row at the limit", call: func(ctx context.Context, _ int, n int64) error {
			var id int64
			return s.db.QueryRowContext(ctx, sqlAtLimit, move(n)).Scan(&id)
		}},
		{name: "onerow", aim: aim{of: one, share: 0.4}, call: func(ctx context.Context, _ int, n int64) error {
			move(n)
			res, err := rule.Recalculate(ctx, s.db, 1)
			if err == nil && res.Changed > 2 { // the way before may have left one wrong
				err = fmt.Errorf("%+v: more than the row at the limit has moved", res)
			}
			return err
		}},
	}, nil
}
