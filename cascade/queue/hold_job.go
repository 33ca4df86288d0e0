package queue

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/internal/dbtext"
)

// sqlForgetParked deletes one_row's part of the job, which nobody else changes while the job is locked: what
// was parked, or skipped, is below a row that stays.
const sqlForgetParked = `DELETE k FROM onerow_parked AS k FORCE INDEX (one_row) WHERE k.job_id = ?`

// HoldJob takes a job from the workers for good, whatever it has done already, before a cancel: it is held,
// the worker that has it changes nothing after its batch, and the rows that it parked are forgotten.
// [Cancel] then ends it; what is gone stays gone, unless recover.Rows brings it back. [Retry] lets it go
// on. A job that is dead or has leftovers is reopened for it. One that was cancelled or restored is returned
// as it is. Errors: [ErrNoJob]; [ErrNotOpen] when it is done; [ErrOpenJob] when its row was deleted again
// since.
//
// Five statements, 8 for a job that has ended; in a transaction of its own on a pool. Calling it again is
// safe, also after [onerow.ErrOutcomeUnknown]. See repo.CancelJob, which does all of it.
func HoldJob(ctx context.Context, db onerow.DB, jobID int64, reason string) (Job, error) {
	var job Job
	err := inSavepoint(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		held, err := holdOpen(ctx, tx, jobID, reason)
		if err != nil {
			return err
		}
		if held == 0 {
			n, err := onerow.Affected(ctx, tx, sqlRevive, jobID)
			if err == nil && n > 0 {
				if err = reopen(ctx, tx, jobID, sqlUnarchiveAll); err == nil {
					held, err = holdOpen(ctx, tx, jobID, reason)
				}
			}
			if err != nil {
				return err
			}
		}
		if held > 0 {
			if _, err := tx.ExecContext(ctx, sqlForgetParked, jobID); err != nil {
				return err
			}
		}
		if job, err = answer(ctx, tx, jobID); err == nil && job.State != Held && job.State != Cancelled && job.State != Restored {
			err = fmt.Errorf("%w: it is %s", ErrNotOpen, job.State)
		}
		return err
	})
	if err != nil {
		return Job{}, fmt.Errorf("cascade: hold job %d: %w", jobID, err)
	}
	return job, nil
}

func holdOpen(ctx context.Context, tx *onerow.Tx, jobID int64, reason string) (int64, error) {
	return onerow.Affected(ctx, tx, sqlHoldRestored, dbtext.Arg(dbtext.Fit(reason, fault.MaxText)), jobID)
}
