package work

import (
	"context"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
)

// sqlForgetGone deletes the parked rows of a job that is done, by the unique key one_row: somebody else has
// deleted what they name.
const sqlForgetGone = `DELETE p FROM onerow_parked AS p FORCE INDEX (one_row) WHERE p.job_id = ? AND p.state = 'parked'`

// end moves the job to the archive, in the batch that has deleted the root.
func (r *run) end(ctx context.Context, tx *onerow.Tx) error {
	if len(r.parked) > 0 {
		if _, err := tx.ExecContext(ctx, sqlForgetGone, r.JobID); err != nil {
			return err
		}
	}
	return r.lease.End(ctx, tx, queue.Done, "")
}

// leaveParked is the last batch of a job that has nothing left to delete but what is parked and what is above
// it. It is not done when an operator has unparked something meanwhile.
func (r *run) leaveParked(ctx context.Context) (done bool, err error) {
	err = r.batch(ctx, func(ctx context.Context, tx *onerow.Tx, _ Tally) (bool, error) {
		done = false
		parked, all, err := ParkedCounts(ctx, tx, r.JobID)
		if err != nil || all < int64(r.parkedRows()) {
			return false, err
		}
		done = true // with none parked somebody has decided that all of it stays
		if parked > 0 {
			return true, r.lease.End(ctx, tx, queue.Leftovers, "")
		}
		return true, r.lease.End(ctx, tx, queue.Done, "")
	})
	if err == nil && !done {
		err = r.loadParked(ctx)
	}
	return done, err
}
