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

// Counted is how many rows of each table a batch has deleted and detached for a job.
type Counted struct {
	JobID             int64
	Ended             bool // nothing is left: see [Claim.Note]
	Deleted, Detached map[string]int64
}

func (c Counted) rows() (n int64) {
	for _, tables := range []map[string]int64{c.Deleted, c.Detached} {
		for _, rows := range tables {
			n += rows
		}
	}
	return n
}

// Count adds to the counts of jobs whose leases this transaction holds. One statement if something was
// deleted, and another one if something was detached.
func Count(ctx context.Context, tx *onerow.Tx, jobs ...Counted) error {
	var deleted, detached tables
	for _, c := range jobs {
		deleted.add(c.JobID, c.Deleted)
		detached.add(c.JobID, c.Detached)
	}
	if err := deleted.write(ctx, tx, sqlCount, sqlCountMore); err != nil {
		return err
	}
	return detached.write(ctx, tx, sqlCountDetached, sqlCountMoreDetached)
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
