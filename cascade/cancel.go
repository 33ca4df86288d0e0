package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
)

// cancelSQL decides between a cancel and a claim: both are conditional updates of
// the job's row, which it locks by the unique key one_open.
const cancelSQL = `UPDATE onerow_job SET state = 'cancelled', batch_seq = batch_seq + 1
WHERE resource = ? AND resource_id = ? AND deletion_id = ? AND state = 'scheduled' AND due_at > UTC_TIMESTAMP(6)`

// moveCancelledSQL and dropCancelledSQL follow on the row that cancelSQL locked.
const (
	moveCancelledSQL = moveColumns + `UTC_TIMESTAMP(6) FROM onerow_job WHERE resource = ? AND resource_id = ? AND state = 'cancelled'`
	dropCancelledSQL = `DELETE FROM onerow_job WHERE resource = ? AND resource_id = ? AND state = 'cancelled'`
)

// cancelledSQL looks whether an earlier call has cancelled this deletion. It locks
// the entries that it reads of the archive's index (resource, resource_id, id), for
// a snapshot could be older than that call.
const cancelledSQL = `SELECT state FROM onerow_job_archive WHERE resource = ? AND resource_id = ? AND deletion_id = ?
ORDER BY id DESC LIMIT 1 LOCK IN SHARE MODE`

// moveColumns copies a job into the archive; the time of its end follows.
const moveColumns = `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, worker, batch_seq,
  failures, last_error, created_at, started_at, finished_at)
SELECT id, resource, resource_id, deletion_id, state, due_at, token, worker, batch_seq, failures, last_error, created_at, started_at, `

// Cancel cancels the job of a deletion that is still in its grace period, by the
// database's clock. Give it the transaction that brings the row back. The job must
// belong to that deletion. Otherwise, or when a worker has claimed it, the error is
// [ErrTooLate]. Cancelling what is cancelled is a success.
//
// Three statements; 2 when it is too late; in a transaction of its own on a pool.
// Calling it again is safe, also after [onerow.ErrOutcomeUnknown].
func Cancel(ctx context.Context, db onerow.DB, resource, resourceID string, deletionID int64) error {
	key := []byte(resourceID)
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, cancelSQL, resource, key, deletionID)
		if err != nil {
			return err
		}
		if n == 0 {
			return cancelledEarlier(ctx, tx, resource, key, deletionID)
		}
		if _, err := tx.ExecContext(ctx, moveCancelledSQL, resource, key); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, dropCancelledSQL, resource, key)
		return err
	})
	if err != nil {
		return fmt.Errorf("cascade: cancel deletion %d of %s %s: %w", deletionID, resource, resourceID, err)
	}
	return nil
}

func cancelledEarlier(ctx context.Context, tx *onerow.Tx, resource string, key []byte, deletionID int64) error {
	var state State
	err := onerow.QueryRow(ctx, tx, cancelledSQL, []any{resource, key, deletionID}, (*string)(&state))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%w: it is no longer scheduled, or never was", ErrTooLate)
	case err != nil:
		return err
	case state != Cancelled:
		return fmt.Errorf("%w: its job is %s", ErrTooLate, state)
	}
	return nil
}
