package queue

import (
	"context"
	"database/sql"
	"strings"

	"github.com/onerow/onerow"
)

// sqlEnqueue: the unique key one_open decides, in this one statement, whether the row gets a job or has one.
// An open job's row is locked exclusively at once, so that two callers do not deadlock over a share lock, as
// they would after a 1062. It always changes something (batch_seq), so 1 affected row means inserted and 2
// mean that a job is open, whatever clientFoundRows is. A running job is locked for one batch at most.
//
// The rows of one INSERT get consecutive ids, @@auto_increment_increment apart, of which the server answers
// with the first: so the n-th deletion's id is known without asking.
const (
	sqlEnqueue    = `INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at) VALUES `
	sqlEnqueueRow = `(?, ?, ? + ? * @@auto_increment_increment, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6))`
	// An open job is due at the earlier time, and a held one is scheduled again.
	sqlMerge = ` ON DUPLICATE KEY UPDATE due_at = CASE state WHEN 'scheduled' THEN LEAST(due_at, VALUES(due_at))
  WHEN 'held' THEN LEAST(due_at - ` + heldFor + `, VALUES(due_at)) ELSE due_at END, state = IF(state = 'held', 'scheduled', state), batch_seq = batch_seq + 1`
	// Of the retention's: an open job goes on as it is, above all one that is held while its rows come back.
	sqlLeaveOpen = ` ON DUPLICATE KEY UPDATE batch_seq = batch_seq + 1`
)

// sqlKeepNothing marks open jobs, found by the unique key one_open, that are to keep nothing from now on, for
// as long as jobs are remembered: their step 0, by the trash's primary key.
const (
	sqlKeepNothing = `INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at)
SELECT id, 0, '', '', 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 400 DAY FROM onerow_job FORCE INDEX (one_open) WHERE `
	sqlKeepNothingRow  = `resource = ? AND resource_id = ?`
	sqlKeepNothingMore = ` ON DUPLICATE KEY UPDATE expires_at = VALUES(expires_at)`
)

// insertJobs queues deletions; those that were logged just now have ids from first on, and merge says what
// becomes of an open job. One statement, 2 where some keep nothing.
func insertJobs(ctx context.Context, tx *onerow.Tx, deletions []Deletion, first int64, merge string) (sql.Result, error) {
	rows, args, logged := make([]string, len(deletions)), make([]any, 0, 6*len(deletions)), 0
	var keepNothing []string
	var keepArgs []any
	for i, d := range deletions {
		rows[i] = sqlEnqueueRow
		id, nth := d.ID, 0
		if id == 0 {
			id, nth = first, logged
			logged++
		}
		args = append(args, d.Resource, []byte(d.ResourceID), id, nth, string(d.state()), d.Grace.Microseconds())
		if d.NoTrash {
			keepNothing, keepArgs = append(keepNothing, sqlKeepNothingRow), append(keepArgs, d.Resource, []byte(d.ResourceID))
		}
	}
	res, err := tx.ExecContext(ctx, sqlEnqueue+strings.Join(rows, ", ")+merge, args...)
	if err == nil && len(keepNothing) > 0 {
		_, err = tx.ExecContext(ctx, sqlKeepNothing+strings.Join(keepNothing, " OR ")+sqlKeepNothingMore, keepArgs...)
	}
	return res, err
}
