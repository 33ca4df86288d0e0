package queue

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
)

// sqlCount and sqlCountDetached: the primary key (job, table) decides. Nobody else writes
// the counts of the job whose fence this transaction holds.
const (
	sqlCount             = `INSERT INTO onerow_job_count (job_id, table_name, deleted_rows) VALUES `
	sqlCountMore         = ` ON DUPLICATE KEY UPDATE deleted_rows = deleted_rows + VALUES(deleted_rows)`
	sqlCountDetached     = `INSERT INTO onerow_job_detached (job_id, table_name, detached_rows) VALUES `
	sqlCountMoreDetached = ` ON DUPLICATE KEY UPDATE detached_rows = detached_rows + VALUES(detached_rows)`
)

// Note notes at the end of a batch what it has done: Tables and Detached of each job, which are of this batch
// alone, are added to the job's counts. The transaction has renewed the lease of the job, or it has locked
// jobs of one claim, see [Claim.Lock]. With a plan it also notes that they were begun under it, moves those
// that are [Done] to the archive, and renews the leases of the others. One statement if something was
// deleted, and one if something was detached; with a plan up to four more.
func Note(ctx context.Context, tx *onerow.Tx, plan string, jobs ...Claimed) error {
	if plan != "" {
		if err := noteBegun(ctx, tx, plan, jobs); err != nil {
			return err
		}
	}
	var deleted, detached tables
	for _, job := range jobs {
		deleted.add(job.ID, job.Tables)
		detached.add(job.ID, job.Detached)
	}
	if err := deleted.write(ctx, tx, sqlCount, sqlCountMore); err != nil {
		return err
	}
	return detached.write(ctx, tx, sqlCountDetached, sqlCountMoreDetached)
}

// sqlFenceAll, sqlArchiveAll and sqlDropAll follow, by the primary key, on the rows that sqlStillClaimed has
// locked.
const (
	sqlFenceAll   = `UPDATE onerow_job FORCE INDEX (PRIMARY) SET batch_seq = batch_seq + 1, due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE id IN `
	sqlArchiveAll = sqlArchive + `'done', ? FROM onerow_job FORCE INDEX (PRIMARY) WHERE id IN `
	sqlDropAll    = `DELETE j FROM onerow_job AS j FORCE INDEX (PRIMARY) WHERE j.id IN `
)

// noteBegun is the part of [Note] for jobs that were locked together.
func noteBegun(ctx context.Context, tx *onerow.Tx, plan string, jobs []Claimed) error {
	var begun, ended []int64
	for _, job := range jobs {
		switch {
		case job.State == Done:
			ended = append(ended, job.ID)
		case anyRows(job.Tables) || anyRows(job.Detached):
			begun = append(begun, job.ID)
		}
	}
	if len(begun)+len(ended) == 0 {
		return nil
	}
	err := storePlan(ctx, tx, plan, slices.Concat(begun, ended)...)
	if err == nil && len(begun) > 0 {
		_, err = tx.ExecContext(ctx, sqlFenceAll+in(begun), jobs[0].Lease.Microseconds())
	}
	if err == nil && len(ended) > 0 {
		if _, err = tx.ExecContext(ctx, sqlArchiveAll+in(ended), jobs[0].Worker); err == nil {
			_, err = tx.ExecContext(ctx, sqlDropAll+in(ended))
		}
	}
	return err
}

func anyRows(tables map[string]int64) bool {
	for _, rows := range tables {
		if rows > 0 {
			return true
		}
	}
	return false
}

// tables are counts of rows by job and table.
type tables struct {
	rows []string
	args []any
}

func (t *tables) add(job int64, rows map[string]int64) {
	for _, table := range slices.Sorted(maps.Keys(rows)) {
		if rows[table] > 0 {
			t.rows, t.args = append(t.rows, "(?, ?, ?)"), append(t.args, job, table, rows[table])
		}
	}
}

// write is one statement, none without rows.
func (t *tables) write(ctx context.Context, tx *onerow.Tx, insert, more string) error {
	if len(t.rows) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, insert+strings.Join(t.rows, ", ")+more, t.args...)
	return err
}
