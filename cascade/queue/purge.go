package queue

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/purge"
)

// DefaultKeep is how long a job that has ended, its counts and its audit are kept where nobody says
// otherwise, and how long it is known what of it has come back.
const DefaultKeep = 400 * 24 * time.Hour

// purgeBatch is how many jobs, or audits, are looked at by a statement and go in a transaction, and
// skippedBatch how many skipped rows of jobs do.
const (
	purgeBatch   = 200
	skippedBatch = 1000
)

// sqlOldJobs reads a page of the index finished_at, behind the last job of the page before, and without a
// lock. Jobs that stay are passed by and not read again; a LIMIT on the others only would read all that stay
// each time.
const sqlOldJobs = `SELECT id, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', finished_at), state IN ('done', 'cancelled', 'restored') FROM onerow_job_archive FORCE INDEX (finished_at)
WHERE finished_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND (finished_at > CAST('1970-01-01' AS DATETIME(6)) + INTERVAL ? MICROSECOND
  OR finished_at = CAST('1970-01-01' AS DATETIME(6)) + INTERVAL ? MICROSECOND AND id > ?) ORDER BY finished_at, id LIMIT ?`

// sqlLockOld decides, by the primary key, which of these jobs are still to go: [RetryParked] may have
// reopened one, which may have ended again. All that follows is by keys that begin with the job's id, but for
// the skipped rows, whose ids are read first: of them a job may have very many.
const (
	sqlLockOld = `SELECT id FROM onerow_job_archive FORCE INDEX (PRIMARY) WHERE state IN ('done', 'cancelled', 'restored')
  AND finished_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND id IN `
	sqlSkipped     = `SELECT id FROM onerow_parked FORCE INDEX (one_row) WHERE job_id IN `
	sqlDropSkipped = `DELETE p FROM onerow_parked AS p FORCE INDEX (PRIMARY) WHERE p.id IN `
)

// Counts are found job by job, behind the jobs, which are locked: a list of the first column of a forced
// index is a scan of all of it, which MySQL locks, where the statistics are of when the table was empty.
var sqlDropOld = []string{
	`DELETE c FROM onerow_job_archive AS a FORCE INDEX (PRIMARY) STRAIGHT_JOIN onerow_job_count AS c FORCE INDEX (PRIMARY) ON c.job_id = a.id WHERE a.id IN `,
	`DELETE d FROM onerow_job_archive AS a FORCE INDEX (PRIMARY) STRAIGHT_JOIN onerow_job_detached AS d FORCE INDEX (PRIMARY) ON d.job_id = a.id WHERE a.id IN `,
	`DELETE p FROM onerow_job_plan AS p FORCE INDEX (PRIMARY) WHERE p.job_id IN `,
	`DELETE a FROM onerow_job_archive AS a FORCE INDEX (PRIMARY) WHERE a.id IN `,
}

// sqlOldestJobs reads so many entries at the end of the index finished_at.
const sqlOldestJobs = `SELECT COUNT(*) FROM (SELECT state FROM onerow_job_archive FORCE INDEX (finished_at)
  WHERE finished_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND ORDER BY finished_at LIMIT ?) AS old WHERE state IN ('done', 'cancelled', 'restored')`

// PurgeJobs removes jobs that ended more than age ago, by the database's clock, as done, cancelled or
// restored, oldest first, with their counts, plans and skipped rows: limit at most. It returns how many: less
// than limit when no more are that old. Jobs that are dead or have leftovers wait for somebody, however old
// they are. [Find] does not find a purged job, so a Delete of its row, which is gone, is a success without a
// job; and inspect.Orphans takes rows that were skipped for any others.
//
// On a pool up to 200 jobs commit by themselves: 9 statements, 1 more where rows were skipped; and 1 for each
// 200 that stay. Where the statistics of these tables are of when they were empty, and were read anew since,
// a statement reads or locks a whole table: ANALYZE TABLE ends that. It may run beside everything and beside
// itself, and be called again after any error. A dry run removes nothing, and says how many of the limit
// oldest would go. One statement.
func PurgeJobs(ctx context.Context, db onerow.DB, age time.Duration, limit int, dryRun bool) (int64, error) {
	return purgeOld(age, limit, "purge jobs", func() (n int64, err error) {
		if dryRun {
			err = onerow.QueryRow(ctx, db, sqlOldestJobs, []any{age.Microseconds(), limit}, &n)
			return n, err
		}
		var lastTime, lastID int64
		return purgePages(limit, func() (ids []int64, last bool, err error) {
			found := 0
			err = onerow.Query(ctx, db, sqlOldJobs, []any{age.Microseconds(), lastTime, lastTime, lastID, purgeBatch}, func(rows *sql.Rows) error {
				var goes bool
				err := rows.Scan(&lastID, &lastTime, &goes)
				if found++; goes {
					ids = append(ids, lastID)
				}
				return err
			})
			return ids, found < purgeBatch, err
		}, func(ids []int64) (int64, bool, error) { return dropJobs(ctx, db, age, ids) })
	})
}

// purgeOld refuses what no purge could mean, and puts before an error of purge what was tried.
func purgeOld(age time.Duration, limit int, what string, purge func() (int64, error)) (n int64, err error) {
	if age <= 0 || limit <= 0 {
		err = fmt.Errorf("%w: older than %s, %d at most", ErrInvalid, age, limit)
	} else {
		n, err = purge()
	}
	if err != nil {
		err = fmt.Errorf("cascade: %s: %w", what, err)
	}
	return n, err
}

// purgePages removes what page after page names, up to limit. drop may leave more of a page to be done.
func purgePages(limit int, page func() (ids []int64, last bool, err error), drop func(ids []int64) (n int64, more bool, err error)) (purged int64, err error) {
	for last := false; !last && purged < int64(limit); {
		var ids []int64
		if ids, last, err = page(); err != nil {
			return purged, err
		}
		ids = ids[:min(len(ids), limit-int(purged))]
		for more := len(ids) > 0; more; {
			var n int64
			n, more, err = drop(ids)
			if purged += n; err != nil {
				return purged, err
			}
		}
	}
	return purged, nil
}

// dropJobs removes jobs, or so many of their skipped rows as fit into a transaction; then there is more to
// do.
func dropJobs(ctx context.Context, db onerow.DB, age time.Duration, ids []int64) (n int64, more bool, err error) {
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		n, more = 0, false
		locked, err := readIDs(ctx, tx, sqlLockOld+in(ids)+` FOR UPDATE`, age.Microseconds())
		if err != nil || len(locked) == 0 {
			return err
		}
		skipped, err := readIDs(ctx, tx, sqlSkipped+in(locked)+` LIMIT ?`, skippedBatch)
		if err == nil && len(skipped) > 0 {
			args := make([]any, len(skipped)) // their ids are drawn, and a text is to be the same in each run
			for i, id := range skipped {
				args[i] = id
			}
			_, err = tx.ExecContext(ctx, sqlDropSkipped+"("+ident.Params(len(args))+")", args...)
		}
		if more = len(skipped) == skippedBatch; more || err != nil {
			return err
		}
		for _, query := range sqlDropOld {
			if _, err := tx.ExecContext(ctx, query+in(locked)); err != nil {
				return err
			}
		}
		n = int64(len(locked))
		return nil
	})
	return n, more, err
}

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

// The index acted_at leads to the old ones.
var oldActions = purge.Table{
	Find:   `SELECT id FROM onerow_action FORCE INDEX (acted_at) WHERE acted_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND ORDER BY acted_at LIMIT ?`,
	Delete: `DELETE a FROM onerow_action AS a FORCE INDEX (PRIMARY) WHERE a.acted_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND (`,
	Key:    `a.id = ?`,
}

// PurgeActions removes actions of more than age ago, by the database's clock, oldest first: limit at most. It
// returns how many: less than limit when no more are that old. It may run beside everything and beside
// itself, and be called again after any error. Two statements per 200. A dry run removes nothing, and says
// how many would go. One statement.
func PurgeActions(ctx context.Context, db onerow.DB, age time.Duration, limit int, dryRun bool) (int64, error) {
	return purgeOld(age, limit, "purge actions", func() (int64, error) {
		if dryRun {
			return oldActions.Waiting(ctx, db, limit, age.Microseconds())
		}
		return oldActions.Purge(ctx, db, limit, age.Microseconds())
	})
}
