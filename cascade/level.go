package cascade

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strconv"
	"time"

	"github.com/onerow/onerow"
)

// row is a row of an inner resource.
type row struct {
	id, parent sql.NullInt64
	asset      sql.NullString
	owner      sql.NullInt64
}

// below deletes what is below the parents, depth first, as one pass sees it: the
// inner children with everything below them. The leaves go with the parents. What
// moves meanwhile, or appears, is left for the next pass.
func (r *run) below(ctx context.Context, n *node, parents []int64) error {
	for _, child := range n.inner {
		for _, t := range child.tables {
			if err := r.level(ctx, child, t, parents); err != nil {
				return err
			}
		}
	}
	return nil
}

// level deletes, chunk by chunk along the index (parent, id), the children of the
// parents in one table. It never reads the same rows twice, so it ends whatever
// others do to them.
func (r *run) level(ctx context.Context, n *node, t table, parents []int64) error {
	after := cursor{}
	for {
		rows, err := r.chunk(ctx, t.readSQL(parents, after, r.cfg.Chunk))
		if err != nil || len(rows) == 0 {
			return err
		}
		last := rows[len(rows)-1]
		after = cursor{last.parent.Int64, last.id.Int64}
		slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.id.Int64, b.id.Int64) })
		if err := r.below(ctx, n, ids(rows)); err != nil {
			return err
		}
		if err := r.remove(ctx, n, t, rows); err != nil {
			return err
		}
		if len(rows) < r.cfg.Chunk {
			return nil
		}
	}
}

// chunk is rows outside of a transaction.
func (r *run) chunk(ctx context.Context, query string) (list []row, err error) {
	err = r.again(ctx, func() error {
		list, err = r.rows(ctx, r.db, query)
		return err
	})
	return list, err
}

// againTries and againPause are for a connection that was lost and a server that is
// there: the job need not wait for it.
const (
	againTries = 3
	againPause = 10 * time.Millisecond
)

// again runs a statement outside of a transaction that may be run twice, again after
// a transient error.
func (r *run) again(ctx context.Context, stmt func() error) error {
	for try := 1; ; try++ {
		err := stmt()
		if err == nil || !transient(err) || try == againTries || ctx.Err() != nil {
			return err
		}
		sleep(ctx, jitter(againPause))
	}
}

// rows runs one of the statements that read id, parent, asset and owner.
func (r *run) rows(ctx context.Context, db onerow.DB, query string) ([]row, error) {
	var list []row
	err := onerow.Query(ctx, db, query, nil, func(rows *sql.Rows) error {
		var v row
		err := rows.Scan(&v.id, &v.parent, &v.asset, &v.owner)
		list = append(list, v)
		return err
	})
	return list, err
}

func ids(rows []row) []int64 {
	list := make([]int64, len(rows))
	for i, v := range rows {
		list[i] = v.id.Int64
	}
	return list
}

// leaves deletes leaf children of the parents, at most Batch of them, and says
// whether that limit was reached. One statement per leaf table. Each deletes along
// the index (parent, id); the LIMIT also keeps the optimizer from scanning the
// table. At REPEATABLE READ it holds the gaps there until the batch ends.
func (r *run) leaves(ctx context.Context, tx *onerow.Tx, n *node, parents []int64, c counts) (full bool, err error) {
	budget := int64(r.cfg.Batch)
	for _, leaf := range n.leaves {
		for _, t := range leaf.tables {
			deleted, err := onerow.Affected(ctx, tx, t.leaves+in(parents)+" LIMIT "+strconv.FormatInt(budget, 10))
			if err != nil {
				return false, err
			}
			c[t.name] += deleted
			if budget -= deleted; budget <= 0 {
				return true, nil
			}
		}
	}
	return false, nil
}

// clear deletes the leaves of the parents batch by batch, without locking the
// parents, until there are less than a batch.
func (r *run) clear(ctx context.Context, n *node, parents []int64) error {
	for {
		full := false
		err := r.batch(ctx, func(ctx context.Context, tx *onerow.Tx, c counts) (err error) {
			full, err = r.leaves(ctx, tx, n, parents, c)
			return err
		})
		if err != nil || !full {
			return err
		}
	}
}

// above returns which of the locked parents still have something below.
func (r *run) above(ctx context.Context, tx *onerow.Tx, n *node, parents []int64) (map[int64]bool, error) {
	held := map[int64]bool{}
	if n.certain() {
		return held, nil
	}
	err := onerow.Query(ctx, tx, n.aboveSQL(parents), nil, func(rows *sql.Rows) error {
		var parent int64
		err := rows.Scan(&parent)
		held[parent] = true
		return err
	})
	return held, err
}
