package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// sqlRevive decides, on the row locked by its key, which of two callers retries the
// job. (The INSERT … SELECT alone would lock nothing at READ COMMITTED.)
const sqlRevive = `UPDATE onerow_job_archive SET batch_seq = batch_seq + 1 WHERE id = ? AND state IN ('dead', 'leftovers')`

// sqlReopen: the unique key one_open decides whether the row has another open job.
// The token goes on where it was, so that no old worker's token is ever given again.
const sqlReopen = `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, last_error, created_at, started_at)
SELECT id, resource, resource_id, deletion_id, 'ready', UTC_TIMESTAMP(6), token, batch_seq, 0, last_error, created_at, started_at
FROM onerow_job_archive WHERE id = ?`

// Both follow on the row that sqlRevive or sqlLockArchived has locked, and delete by primary keys and by
// one_row's part of the job. The plan of the job is forgotten, so that it may go on under another one.
const (
	sqlUnarchive = `DELETE a, p FROM onerow_job_archive AS a
LEFT JOIN onerow_job_plan AS p ON p.job_id = a.id WHERE a.id = ?`
	sqlUnarchiveAll = `DELETE a, p, k FROM onerow_job_archive AS a
LEFT JOIN onerow_job_plan AS p ON p.job_id = a.id LEFT JOIN onerow_parked AS k FORCE INDEX (one_row) ON k.job_id = a.id AND k.state = 'parked' WHERE a.id = ?`
)

// sqlOtherOpen asks, after a duplicate, which job it was. It locks, for a snapshot
// could be older than that job.
const sqlOtherOpen = `SELECT o.id FROM onerow_job_archive AS d JOIN onerow_job AS o ON o.resource = d.resource AND o.resource_id = d.resource_id
WHERE d.id = ? LOCK IN SHARE MODE`

// Retry makes a job ready again that is dead or ended with leftovers: the same id, no failures, due at once.
// Its counts go on from where they were. The rows that it parked are tried again, those that were skipped are
// not; the plan that it was begun under is forgotten. A held job, see [Hold], goes on where it was held.
// Errors: [ErrNoJob]; [ErrWrongState] (so also when an earlier call has retried it); [ErrOpenJob] when the
// row was deleted again since and that job is open.
// It sends 4 statements more where an open job of another row has its id, see [Deletion].After.
func Retry(ctx context.Context, db onerow.DB, jobID int64) (Job, error) {
	return verb{name: "retry", action: actionRetry, several: true, change: func(ctx context.Context, tx *onerow.Tx) (bool, error) {
		if changed, err := revive(ctx, tx, jobID); changed || err != nil {
			return changed, err
		}
		return affected(ctx, tx, sqlUnhold, jobID)
	}}.do(ctx, db, jobID)
}

// revive reopens a job that is dead or has leftovers, to try all again that it has parked, and says whether
// it was such a one.
func revive(ctx context.Context, tx *onerow.Tx, jobID int64) (bool, error) {
	ended, err := affected(ctx, tx, sqlRevive, jobID)
	if ended && err == nil {
		err = reopen(ctx, tx, jobID, sqlUnarchiveAll)
	}
	return ended, err
}

// reopen moves a job, whose row this transaction has locked, out of the archive.
func reopen(ctx context.Context, tx *onerow.Tx, jobID int64, unarchive string) error {
	_, err := tx.ExecContext(ctx, sqlReopen, jobID)
	if mysqlerr.Classify(err) == mysqlerr.Duplicate {
		if err = whichIsOpen(ctx, tx, jobID); err != nil {
			return err
		}
		// Another row's open job was given this id again.
		if _, err = renumber(ctx, tx, jobID); err == nil {
			_, err = tx.ExecContext(ctx, sqlReopen, jobID)
		}
	}
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, unarchive, jobID)
	return err
}

// whichIsOpen says whether the row has another open job, after a duplicate; nil: it has not.
func whichIsOpen(ctx context.Context, tx *onerow.Tx, jobID int64) error {
	var open int64
	err := onerow.QueryRow(ctx, tx, sqlOtherOpen, []any{jobID}, &open)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%w: job %d", ErrOpenJob, open)
}
