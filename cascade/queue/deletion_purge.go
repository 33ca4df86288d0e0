package queue

import (
	"context"
	"database/sql"
	"time"

	"github.com/onerow/onerow"
)

// sqlOldAudits reads a page of the primary key, whose ids grow with the time, and for each row one entry of
// the keys (resource, resource_id) of the open and of the finished jobs. No lock: a deletion of which no job
// is left never gets one again. As EXISTS, MariaDB could read all jobs to answer it.
const sqlOldAudits = `SELECT d.id, d.requested_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND,
  (SELECT j.id FROM onerow_job AS j WHERE j.resource = d.resource AND j.resource_id = d.resource_id LIMIT 1) IS NULL
  AND (SELECT a.id FROM onerow_job_archive AS a WHERE a.resource = d.resource AND a.resource_id = d.resource_id LIMIT 1) IS NULL
FROM onerow_deletion AS d FORCE INDEX (PRIMARY) WHERE d.id > ? ORDER BY d.id LIMIT ?`

// sqlDropAudits deletes by the primary key.
const sqlDropAudits = `DELETE d FROM onerow_deletion AS d FORCE INDEX (PRIMARY) WHERE d.id IN `

// sqlOldestAudits reads so many rows at the end of the primary key.
const sqlOldestAudits = `SELECT COUNT(*) FROM (SELECT d.id, d.resource, d.resource_id, d.requested_at FROM onerow_deletion AS d FORCE INDEX (PRIMARY) ORDER BY d.id LIMIT ?) AS d
WHERE d.requested_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
  AND (SELECT j.id FROM onerow_job AS j WHERE j.resource = d.resource AND j.resource_id = d.resource_id LIMIT 1) IS NULL
  AND (SELECT a.id FROM onerow_job_archive AS a WHERE a.resource = d.resource AND a.resource_id = d.resource_id LIMIT 1) IS NULL`

// PurgeDeletions removes audits of deletions that were asked for more than age ago, by the database's clock,
// oldest first: limit at most. It returns how many: less than limit when no more are that old. An audit stays
// as long as a job of its row does, of this deletion or of another: open, held, dead or not purged yet. A
// deletion without its audit cannot be undone, which it could not before.
//
// On a pool up to 200 commit by themselves: 2 statements; 1 for each 200 that stay. It may run beside
// everything and beside itself, and be called again after any error. A dry run removes nothing, and says how
// many of the limit oldest would go. One statement.
func PurgeDeletions(ctx context.Context, db onerow.DB, age time.Duration, limit int, dryRun bool) (int64, error) {
	return purgeOld(age, limit, "purge audits of deletions", func() (n int64, err error) {
		if dryRun {
			err = onerow.QueryRow(ctx, db, sqlOldestAudits, []any{limit, age.Microseconds()}, &n)
			return n, err
		}
		after := int64(0)
		return purgePages(limit, func() (ids []int64, last bool, err error) {
			found, olds := 0, 0
			err = onerow.Query(ctx, db, sqlOldAudits, []any{age.Microseconds(), after, purgeBatch}, func(rows *sql.Rows) error {
				var old, alone bool
				err := rows.Scan(&after, &old, &alone)
				found++
				if old {
					olds++
				}
				if old && alone {
					ids = append(ids, after)
				}
				return err
			})
			return ids, found < purgeBatch || olds == 0, err // behind a page of young ones all are younger
		}, func(ids []int64) (n int64, more bool, err error) {
			err = onerow.Alone(ctx, db, func(ctx context.Context, db onerow.DB) (err error) {
				n, err = onerow.Affected(ctx, db, sqlDropAudits+in(ids))
				return err
			})
			return n, false, err
		})
	})
}
