package queue

import (
	"context"

	"github.com/onerow/onerow"
)

// sqlFirst decides by the primary key. What was read before, the time of the job that was first, decides only
// the order.
const sqlFirst = `UPDATE onerow_job SET due_at = LEAST(due_at, UTC_TIMESTAMP(6), COALESCE('1970-01-01' + INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6))), batch_seq = batch_seq + 1
WHERE id = ? AND (state = 'ready' OR state = 'scheduled' AND due_at <= UTC_TIMESTAMP(6))`

// PutFirst has a job that is due, or waits for its next attempt, worked before all that are due now: it
// counts as due for a second longer than the one that was due longest. Jobs that a worker has keep it until
// their turn ends, see cascade.Config.Turn. Of a job that is first already nothing changes. Errors:
// [ErrNoJob]; [ErrWrongState] when it has ended, is at work, or in its grace period, paused or held.
func PutFirst(ctx context.Context, db onerow.DB, jobID int64) (Job, error) {
	var already bool
	return verb{
		name: "prefer", action: actionFirst,
		settled: func(State) bool { return already },
		change: func(ctx context.Context, tx *onerow.Tx) (bool, error) {
			heads, err := openJobs(ctx, tx, 1, 0)
			if err != nil {
				return false, err
			}
			var before any
			if len(heads) > 0 {
				before = heads[0].DueAt.UnixMicro() - 1_000_000
			}
			if already = len(heads) > 0 && heads[0].ID == jobID; already {
				return false, nil
			}
			return affected(ctx, tx, sqlFirst, before, jobID)
		},
	}.do(ctx, db, jobID)
}
