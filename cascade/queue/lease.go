package queue

import (
	"context"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
)

// sqlFence proves the lease token, by the primary key, and renews the lease. It
// changes the row always, so no affected row means that the token is superseded. It
// holds the row's lock to the end of the batch: claims of others wait for it.
const sqlFence = `UPDATE onerow_job SET batch_seq = batch_seq + 1, due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE id = ? AND token = ? AND state = 'running'`

// Renew proves that the job is this claim's still and renews its lease: the first statement of every batch.
// With a plan it notes that the job is begun under it. The error is of fault.ErrLeaseLost where another
// worker has claimed the job since, or an operator has taken it away. One statement, 2 with a plan.
func (job Claimed) Renew(ctx context.Context, db onerow.DB, plan string) error {
	n, err := onerow.Affected(ctx, db, sqlFence, job.Lease.Microseconds(), job.ID, job.Token)
	switch {
	case err != nil:
		return err
	case n == 0:
		return fmt.Errorf("%w: job %d, token %d", fault.ErrLeaseLost, job.ID, job.Token)
	case plan != "":
		return storePlan(ctx, db, plan, job.ID)
	}
	return nil
}

// sqlStorePlan writes by the primary key.
const (
	sqlStorePlan = `INSERT INTO onerow_job_plan (job_id, fingerprint, stored_at) VALUES `
	sqlOnePlan   = `(?, ?, UTC_TIMESTAMP(6))`
	sqlPlanAgain = ` ON DUPLICATE KEY UPDATE stored_at = VALUES(stored_at)`
)

// storePlan notes the plan under which jobs are begun. One statement.
func storePlan(ctx context.Context, db onerow.DB, fingerprint string, jobs ...int64) error {
	var rows []string
	var args []any
	for _, id := range jobs {
		rows, args = append(rows, sqlOnePlan), append(args, id, []byte(fingerprint))
	}
	_, err := db.ExecContext(ctx, sqlStorePlan+strings.Join(rows, ", ")+sqlPlanAgain, args...)
	return err
}
