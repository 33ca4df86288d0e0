package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
)

// Lease is a job that was claimed, under the token of that claim. What a worker writes about its job it
// writes under the token, so it changes nothing any more once another one has claimed the job.
type Lease struct {
	JobID, Token int64
	Worker       string // the name that a finished job shows
}

// ErrLeaseLost means that another worker has claimed the job since, or that an operator has taken it away;
// this one has changed nothing with this batch and must stop.
var ErrLeaseLost = fault.ErrLeaseLost

// sqlFence proves the lease token, by the primary key, and renews the lease. It
// changes the row always, so no affected row means that the token is superseded. It
// holds the row's lock to the end of the batch: claims of others wait for it.
const sqlFence = `UPDATE onerow_job SET batch_seq = batch_seq + 1, due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE id = ? AND token = ? AND state = 'running'`

// Renew proves that the job is this claim's still and renews its lease: the first statement of every batch.
// Errors: [ErrLeaseLost]. One statement.
func (l Lease) Renew(ctx context.Context, db onerow.DB, lasts time.Duration) error {
	n, err := onerow.Affected(ctx, db, sqlFence, lasts.Microseconds(), l.JobID, l.Token)
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: job %d, token %d", ErrLeaseLost, l.JobID, l.Token)
	}
	return err
}
