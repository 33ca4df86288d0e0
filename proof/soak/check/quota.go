package check

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/onerow/onerow/proof/soak/journal"
	"github.com/onerow/onerow/proof/soak/load"
)

const (
	readLimits = `SELECT id, max_projects FROM soak_user`
	readMarks  = `SELECT owner, COUNT(*) FROM onerow_quota_mark GROUP BY owner`
)

// quotas demands that of each owner's active projects the oldest are within the limit, the others are
// flagged; no mark is left.
func (c *checker) quotas(ctx context.Context) error {
	limits := map[int64]int64{}
	err := c.query(ctx, readLimits, func(rows *sql.Rows) error {
		var id, limit int64
		err := rows.Scan(&id, &limit)
		limits[id] = limit
		return err
	})
	if err != nil {
		return err
	}
	owned := map[int64][]*row{}
	for _, r := range c.rows[load.ProjectResource] {
		if r.active {
			owned[r.owner] = append(owned[r.owner], r)
		}
	}
	for owner, rows := range owned {
		slices.SortFunc(rows, func(a, b *row) int { return cmp.Compare(a.id, b.id) })
		for i, r := range rows {
			if over := int64(i) >= limits[owner]; over != r.over {
				c.add(Quotas, WrongFlag, "project %d is number %d of owner %d, whose limit is %d, and its flag is %t", r.id, i+1, owner, limits[owner], r.over)
			}
		}
	}
	for key, entries := range c.history.keys {
		if e, settled := last(entries); key.op == journal.SetLimit && settled && limits[key.owner] != e.Number {
			c.add(Quotas, Lost, "the limit of owner %d was set to %d and is %d", key.owner, e.Number, limits[key.owner])
		}
	}
	return c.query(ctx, readMarks, func(rows *sql.Rows) error {
		var owner string
		var n int64
		err := rows.Scan(&owner, &n)
		c.add(Quotas, Stuck, "owner %s has %d marks that no recalculation settled", owner, n)
		return err
	})
}
