package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
)

// sqlLookParked reads by primary keys whose row it is and where its job is. It decides
// nothing: what follows is conditional.
const sqlLookParked = `SELECT p.job_id, o.id IS NOT NULL FROM onerow_parked AS p LEFT JOIN onerow_job AS o ON o.id = p.job_id WHERE p.id = ?`

// sqlLookParkedCurrent asks for a row that the snapshot of a caller's transaction does not show: it may have
// been parked since. It locks the row exclusively, as what follows does.
const sqlLookParkedCurrent = `SELECT job_id, 0 FROM onerow_parked WHERE id = ? FOR UPDATE`

// lookParked says whose row it is, and where its job is, as far as is seen.
func lookParked(ctx context.Context, db onerow.DB, id int64) (jobID int64, open bool, err error) {
	err = onerow.QueryRow(ctx, db, sqlLookParked, []any{id}, &jobID, &open)
	_, ours := db.(*onerow.Tx)
	_, isTx := db.(interface{ Commit() error })
	if errors.Is(err, sql.ErrNoRows) && (ours || isTx) {
		err = onerow.QueryRow(ctx, db, sqlLookParkedCurrent, []any{id}, &jobID, &open)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = onerow.ErrNotFound
	}
	return jobID, open, err
}

// A job's row is locked before its parked rows are changed: by its worker's fence, and
// here. So a job does not end while one of its rows is skipped, and the other way round.
const (
	sqlLockOpen     = `UPDATE onerow_job SET batch_seq = batch_seq + 1 WHERE id = ?`
	sqlLockArchived = `UPDATE onerow_job_archive SET batch_seq = batch_seq + 1 WHERE id = ?`
)

// lockTries: between a look into one table and a look into the other the job may move.
const lockTries = 6

// lockJob locks the job where it is, which is looked for first where it was seen.
func lockJob(ctx context.Context, tx *onerow.Tx, jobID int64, seenOpen bool) (open bool, err error) {
	for try := range lockTries {
		open, query := true, sqlLockOpen
		if seenOpen == (try%2 == 1) {
			open, query = false, sqlLockArchived
		}
		if n, err := onerow.Affected(ctx, tx, query, jobID); n > 0 || err != nil {
			return open, err
		}
	}
	return false, fmt.Errorf("%w: %d", ErrNoJob, jobID)
}

// rowVerb is what a person decides about a parked row.
type rowVerb struct {
	name, action string
	skippedToo   bool   // the action is noted of a skipped row, too
	change       string // the row, by its primary key, under the lock on its job
	// ended follows where the job has ended.
	ended func(ctx context.Context, tx *onerow.Tx, jobID int64) error
}

// do changes the row in a transaction that holds its job, and returns the job as it is then.
func (v rowVerb) do(ctx context.Context, db onerow.DB, id int64) (job Job, err error) {
	jobID, seenOpen, err := lookParked(ctx, db, id)
	if err == nil {
		err = inSavepoint(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			open, err := lockJob(ctx, tx, jobID, seenOpen)
			if err != nil {
				return err
			}
			if err := actOnRow(ctx, tx, v.action, id, v.skippedToo); err != nil {
				return err
			}
			changed, err := affected(ctx, tx, v.change, id)
			if err == nil && !changed {
				err = onerow.ErrNotFound
			}
			if err == nil && !open {
				err = v.ended(ctx, tx, jobID)
			}
			if err == nil {
				job, err = answer(ctx, tx, jobID)
			}
			return err
		})
	}
	if err != nil {
		return Job{}, fmt.Errorf("cascade: %s parked row %d: %w", v.name, id, err)
	}
	return job, nil
}

// sqlSkip changes the row by its primary key, under the lock on its job.
const sqlSkip = `UPDATE onerow_parked SET state = 'skipped', version = version + 1 WHERE id = ?`

// sqlSettled: a job with leftovers of which none waits for anybody is done. It reads
// one_row's part of the job, which nobody else changes while the job is locked.
const sqlSettled = `UPDATE onerow_job_archive SET state = 'done', batch_seq = batch_seq + 1
WHERE id = ? AND state = 'leftovers' AND NOT EXISTS (SELECT 1 FROM onerow_parked FORCE INDEX (one_row) WHERE job_id = ? AND state = 'parked')`

// SkipParked decides that a parked row stays, and with it what is above it; nobody is reminded of it any
// more. These rows have their assets, unless they came to be held in the moment between the deletion of the
// asset and of the row. What was below them may be gone, and references to them that were to be detached may
// be NULL. A job with leftovers becomes done with the last of them, one that still runs ends as done. To skip
// what is skipped is a success. The error is [onerow.ErrNotFound] where the row never was parked, or was
// unparked. It returns the row's job.
func SkipParked(ctx context.Context, db onerow.DB, id int64) (Job, error) {
	return rowVerb{name: "skip", action: actionSkipRow, change: sqlSkip, ended: func(ctx context.Context, tx *onerow.Tx, jobID int64) error {
		_, err := tx.ExecContext(ctx, sqlSettled, jobID, jobID)
		return err
	}}.do(ctx, db, id)
}

// sqlUnpark deletes by the primary key, under the lock on the row's job.
const sqlUnpark = `DELETE p FROM onerow_parked AS p WHERE p.id = ?`

// RetryParked has a parked or skipped row tried again. A job that has ended is reopened,
// as by [Retry]: the same id, no failures, due at once; the other rows that it parked stay
// parked. Errors: [onerow.ErrNotFound], so also when an earlier call has done it; [ErrOpenJob]
// when the root row was deleted again since and that job is open. It returns the row's job.
func RetryParked(ctx context.Context, db onerow.DB, id int64) (Job, error) {
	return rowVerb{name: "retry", action: actionRetryRow, skippedToo: true, change: sqlUnpark, ended: func(ctx context.Context, tx *onerow.Tx, jobID int64) error {
		return reopen(ctx, tx, jobID, sqlUnarchive)
	}}.do(ctx, db, id)
}
