package queue

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
)

// heldFor is added to due_at while a job is held: no worker of any version sees it as due,
// and its own time is kept. 365,000 days are exact in both directions, unlike years.
const heldFor = `INTERVAL 365000 DAY`

// notBegun is a job that can be cancelled, unless its time has come. One that is paused may have begun.
const notBegun = `state IN ('scheduled', 'held', IF(token = 0, 'paused', 'held'))`

// sqlHold decides between a hold and a claim, as sqlCancel does, on the job's row, which it locks by the
// unique key one_open: where there are few jobs an optimizer may take another index, and others' rows.
// sqlUnhold locks it by the primary key. Assignments go from left to right: due_at still sees the old state.
const (
	sqlHold = `UPDATE onerow_job FORCE INDEX (one_open) SET due_at = IF(state = 'scheduled', due_at + ` + heldFor + `, due_at), state = 'held', last_error = ` + dbtext.Param + `, batch_seq = batch_seq + 1
WHERE resource = ? AND resource_id = ? AND deletion_id = ? AND ` + notBegun + ` AND due_at > UTC_TIMESTAMP(6)`
	sqlUnhold = `UPDATE onerow_job SET due_at = due_at - ` + heldFor + `, state = 'scheduled', batch_seq = batch_seq + 1 WHERE id = ? AND state = 'held'`
)

// Hold keeps the job of a deletion from being worked: somebody wants the row back before
// the grace period has ended, and it cannot come back as things are. It lasts, also past the
// end of the grace period, until [Cancel], until [Enqueue] for the row, or until [Retry],
// which lets the grace period go on or, when that has ended meanwhile, makes the job due. The
// reason is shown as [Job].LastError. Holding what is held gives another reason. The error is
// [ErrTooLate] when the job is neither scheduled nor held under that deletion.
func Hold(ctx context.Context, db onerow.DB, resource, resourceID string, deletionID int64, reason string) error {
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, sqlHold, reasonArg(reason), resource, []byte(resourceID), deletionID)
		if err == nil && n == 0 {
			err = fmt.Errorf("%w: it is no longer scheduled, or never was", ErrTooLate)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("cascade: hold deletion %d of %s %s: %w", deletionID, resource, resourceID, err)
	}
	return nil
}

// sqlForgetAllParked deletes one_row's part of the job, which nobody else changes while the job is locked:
// what was parked, or skipped, is below a row that stays.
const sqlForgetAllParked = `DELETE k FROM onerow_parked AS k FORCE INDEX (one_row) WHERE k.job_id = ?`

// HoldJob takes a job from the workers for good, whatever it has done already, before a cancel: it is held,
// the worker that has it changes nothing after its batch, and the rows that it parked are forgotten.
// [Cancel] then ends it; what is gone stays gone, unless recover.Rows brings it back. [Retry] lets it go
// on. A job that is dead or has leftovers is reopened for it. One that was cancelled or restored is returned
// as it is. Errors: [ErrNoJob]; [ErrWrongState] when it is done; [ErrOpenJob] when its row was deleted again
// since. See repo.CancelJob, which does all of it.
func HoldJob(ctx context.Context, db onerow.DB, jobID int64, reason string) (Job, error) {
	return verb{
		name: "hold", several: true,
		settled: func(s State) bool { return s == Cancelled || s == Restored },
		change: func(ctx context.Context, tx *onerow.Tx) (bool, error) {
			held, err := affected(ctx, tx, sqlHoldRestored, reasonArg(reason), jobID)
			if err == nil && !held {
				if held, err = revive(ctx, tx, jobID); held && err == nil {
					held, err = affected(ctx, tx, sqlHoldRestored, reasonArg(reason), jobID)
				}
			}
			if held && err == nil {
				_, err = tx.ExecContext(ctx, sqlForgetAllParked, jobID)
			}
			return held, err
		},
	}.do(ctx, db, jobID)
}
