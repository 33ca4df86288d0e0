package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// sqlCancel decides between a cancel and a claim: both are conditional updates of the job's row, which it
// locks by the unique key one_open. The index is forced, here and below: of few jobs MariaDB would take those
// of a state, and wait for who cancels another one. A held job gets its own time back, which is read before
// the state is written: assignments go from left to right. One that a restore has held ends as restored,
// without the restore's text, whether that assignment sees the old state or, as usual, the new one (sql_mode
// SIMULTANEOUS_ASSIGNMENT).
const sqlCancel = `UPDATE onerow_job FORCE INDEX (one_open) SET due_at = IF(state = 'scheduled', due_at, due_at - ` + heldFor + `), state = IF(state = 'held' AND last_error = '` + restoringText + `', 'restored', 'cancelled'),
  last_error = IF(state IN ('held', 'restored') AND last_error = '` + restoringText + `', NULL, last_error), batch_seq = batch_seq + 1
WHERE resource = ? AND resource_id = ? AND deletion_id = ? AND ` + notBegun + ` AND due_at > UTC_TIMESTAMP(6)`

// sqlMoveCancelled and sqlDropCancelled follow on the row that sqlCancel locked; so do, where
// one of them fails in a transaction whose owner may commit, sqlUnmove and sqlUncancel. These
// leave the job held: nothing is deleted that somebody wanted back.
const (
	sqlMoveCancelled = sqlArchive + `state, worker FROM onerow_job FORCE INDEX (one_open) WHERE resource = ? AND resource_id = ? AND state IN ('cancelled', 'restored')`
	sqlDropCancelled = `DELETE j FROM onerow_job AS j FORCE INDEX (one_open) WHERE j.resource = ? AND j.resource_id = ? AND j.state IN ('cancelled', 'restored')`
	sqlUnmove        = `DELETE a FROM onerow_job_archive AS a JOIN onerow_job AS j FORCE INDEX (one_open) ON j.id = a.id AND a.deletion_id = j.deletion_id
WHERE j.resource = ? AND j.resource_id = ? AND j.state IN ('cancelled', 'restored')`
	sqlUncancel = `UPDATE onerow_job FORCE INDEX (one_open) SET due_at = due_at + ` + heldFor + `, state = 'held', last_error = 'its cancel failed', batch_seq = batch_seq + 1
WHERE resource = ? AND resource_id = ? AND state IN ('cancelled', 'restored')`
)

// sqlCancelled looks whether an earlier call has cancelled this deletion. It locks the entries that it reads
// of the archive's index (resource, resource_id, id), for a snapshot could be older than that call.
const sqlCancelled = `SELECT state FROM onerow_job_archive WHERE resource = ? AND resource_id = ? AND deletion_id = ?
ORDER BY id DESC LIMIT 1 LOCK IN SHARE MODE`

// Cancel cancels the job of a deletion that is still in its grace period, by the database's clock, or held,
// or was paused before it began. Give it the transaction that brings the row back. The job must belong to
// that deletion. Otherwise, or when a worker has claimed it, the error is [ErrTooLate]. Cancelling twice is
// a no-op.
//
// Where it fails for another reason in the caller's transaction the job is held. It sends 5 statements more
// where a finished job has the job's id, see [Deletion].After.
func Cancel(ctx context.Context, db onerow.DB, resource, resourceID string, deletionID int64) error {
	key := []byte(resourceID)
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, sqlCancel, resource, key, deletionID)
		if err != nil {
			return err
		}
		if n == 0 {
			return cancelledEarlier(ctx, tx, resource, key, deletionID)
		}
		if err = moveCancelled(ctx, tx, resource, key); err != nil && tx.Joined() {
			for _, query := range []string{sqlUnmove, sqlUncancel} {
				if _, uerr := tx.ExecContext(ctx, query, resource, key); uerr != nil && !errors.Is(uerr, onerow.ErrTxPoisoned) {
					return fmt.Errorf("%w (and the cancel could not be taken back; roll the transaction back: %w)", err, uerr)
				}
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("cascade: cancel deletion %d of %s %s: %w", deletionID, resource, resourceID, err)
	}
	return nil
}

// sqlCancelledID reads the row that sqlCancel has written, by the unique key one_open.
const sqlCancelledID = `SELECT id FROM onerow_job FORCE INDEX (one_open) WHERE resource = ? AND resource_id = ?`

// moveCancelled moves the job that sqlCancel has locked to the archive.
func moveCancelled(ctx context.Context, tx *onerow.Tx, resource string, key []byte) error {
	_, err := tx.ExecContext(ctx, sqlMoveCancelled, resource, key)
	if mysqlerr.Classify(err) == mysqlerr.Duplicate { // a finished job has its id
		var id int64
		if err = onerow.QueryRow(ctx, tx, sqlCancelledID, []any{resource, key}, &id); err == nil {
			_, err = renumber(ctx, tx, id)
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, sqlMoveCancelled, resource, key)
		}
	}
	if err == nil {
		err = actOnCancelled(ctx, tx, resource, key)
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, sqlDropCancelled, resource, key)
	}
	return err
}

func cancelledEarlier(ctx context.Context, tx *onerow.Tx, resource string, key []byte, deletionID int64) error {
	var state State
	err := onerow.QueryRow(ctx, tx, sqlCancelled, []any{resource, key, deletionID}, (*string)(&state))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%w: it is no longer scheduled, or never was", ErrTooLate)
	case err != nil:
		return err
	case state != Cancelled && state != Restored:
		return fmt.Errorf("%w: its job is %s", ErrTooLate, state)
	}
	return nil
}
