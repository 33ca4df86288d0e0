package queue

import (
	"context"

	"github.com/onerow/onerow"
)

// sqlForgetParked deletes one_row's part of the job, which nobody else changes while the job is locked: what
// was parked, or skipped, is below a row that stays.
const sqlForgetParked = `DELETE k FROM onerow_parked AS k FORCE INDEX (one_row) WHERE k.job_id = ?`

// HoldJob takes a job from the workers for good, whatever it has done already, before a cancel: it is held,
// the worker that has it changes nothing after its batch, and the rows that it parked are forgotten.
// [Cancel] then ends it; what is gone stays gone, unless recover.Rows brings it back. [Retry] lets it go
// on. A job that is dead or has leftovers is reopened for it. One that was cancelled or restored is returned
// as it is. Errors: [ErrNoJob]; [ErrWrongState] when it is done; [ErrOpenJob] when its row was deleted again
// since.
//
// Five statements, 8 for a job that has ended; in a transaction of its own on a pool. Calling it again is
// safe, also after [onerow.ErrOutcomeUnknown]. See repo.CancelJob, which does all of it.
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
				_, err = tx.ExecContext(ctx, sqlForgetParked, jobID)
			}
			return held, err
		},
	}.do(ctx, db, jobID)
}
