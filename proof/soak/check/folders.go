package check

import (
	"context"
	"database/sql"
)

// Both read every folder that was told, and what is there without; nothing else runs.
const (
	readFolders = `SELECT t.id, t.leaves, COALESCE(f.body = t.body, 0), (SELECT COUNT(*) FROM soak_leaf AS l WHERE l.folder = t.id AND l.body = t.body)
FROM soak_told AS t LEFT JOIN soak_folder AS f ON f.id = t.id`
	readStrays = `SELECT 'soak_folder', COUNT(*) FROM soak_folder AS f WHERE f.id NOT IN (SELECT id FROM soak_told)
UNION ALL SELECT 'soak_leaf', COUNT(*) FROM soak_leaf AS l WHERE NOT EXISTS (SELECT 1 FROM soak_told AS t WHERE t.id = l.folder AND t.body = l.body)`
	readKept = `SELECT job_id, table_name, SUM(kept_rows) FROM onerow_trash WHERE step > 0 AND kept_rows > 0 GROUP BY job_id, table_name`
)

// folders demands that each folder is there with all its leaves, for the drain has brought back all that was
// deleted, and that nothing is left in the trash.
func (c *checker) folders(ctx context.Context) error {
	err := c.query(ctx, readFolders, func(rows *sql.Rows) error {
		var id, told, leaves int64
		var there bool
		err := rows.Scan(&id, &told, &there, &leaves)
		switch {
		case !there:
			c.add(Trash, Lost, "folder %d was made and deleted, and did not come back", id)
		case leaves < told:
			c.add(Trash, Lost, "folder %d has %d of its %d leaves", id, leaves, told)
		case leaves > told:
			c.add(Trash, Doubled, "folder %d has %d leaves, and was made with %d", id, leaves, told)
		}
		return err
	})
	if err != nil {
		return err
	}
	err = c.query(ctx, readStrays, func(rows *sql.Rows) error {
		var table string
		var n int64
		err := rows.Scan(&table, &n)
		if n > 0 {
			c.add(Trash, Doubled, "%d rows of %s belong to no folder that was made", n, table)
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.query(ctx, readKept, func(rows *sql.Rows) error {
		var job, n int64
		var table string
		err := rows.Scan(&job, &table, &n)
		c.add(Trash, Stuck, "%d rows of %s that job %d has deleted are still in the trash", n, table, job)
		return err
	})
}
