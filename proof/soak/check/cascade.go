package check

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow/proof/soak/load"
)

// trees demands that nothing is left below a row that went, and what is below a row that stays is untouched
// (see states).
func (c *checker) trees(context.Context) error {
	for _, pair := range [][2]string{{load.ScreenResource, load.ProjectResource}, {load.CommentResource, load.ScreenResource}} {
		for id, r := range c.rows[pair[0]] {
			if _, there := c.rows[pair[1]][r.owner]; !there {
				c.add(Trees, Orphaned, "%s %d is below %s %d, which is gone", pair[0], id, pair[1], r.owner)
			}
		}
	}
	return nil
}

// readCounts reads what the jobs say that they deleted below their roots.
const readCounts = `SELECT table_name, SUM(deleted_rows) FROM onerow_job_count GROUP BY table_name`

// jobCounts demands that a root is gone exactly if a cascade of it is done, each deletion's cascade is done
// once, and the jobs counted exactly the rows that are gone.
func (c *checker) jobCounts(ctx context.Context) error {
	type cascade struct{ root, deletion int64 }
	done, finished := map[cascade]int64{}, map[int64]int64{}
	for _, j := range c.jobs[load.ProjectResource] {
		if j.state != "done" {
			continue
		}
		key := cascade{j.root, j.deletion}
		if other, two := done[key]; two {
			c.add(Jobs, Doubled, "jobs %d and %d are both done for deletion %d of project %d", other, j.id, j.deletion, j.root)
		}
		done[key], finished[j.root] = j.id, j.id
		if _, there := c.rows[load.ProjectResource][j.root]; there {
			c.add(Jobs, Lost, "job %d is done, and its project %d is there", j.id, j.root)
		}
	}
	for _, m := range c.made[load.ProjectResource] {
		_, there := c.rows[load.ProjectResource][m.row]
		if m.row != 0 && !there && finished[m.row] == 0 {
			c.add(Jobs, Lost, "project %d is gone, and no cascade for it was done", m.row)
		}
	}
	counted := map[string]int64{}
	err := c.query(ctx, readCounts, func(rows *sql.Rows) error {
		var table string
		var n int64
		err := rows.Scan(&table, &n)
		counted[table] = n
		return err
	})
	for resource, tables := range map[string][]string{load.ScreenResource: {"screen", "screen_archive"}, load.CommentResource: {"comment"}} {
		gone := int64(len(c.made[resource]) - len(c.rows[resource]))
		var sum int64
		for _, table := range tables {
			sum += counted[table]
		}
		switch {
		case sum < gone:
			c.add(Jobs, Lost, "%d rows of %s are gone, the jobs counted %d", gone, resource, sum)
		case sum > gone:
			c.add(Jobs, Doubled, "%d rows of %s are gone, the jobs counted %d", gone, resource, sum)
		}
	}
	return err
}
