package queue

import (
	"context"
	"slices"

	"github.com/onerow/onerow"
)

// sqlStillClaimed proves that jobs are the claim's and that nobody has claimed them before, by the primary
// key, and holds their rows to the end of the batch. The batch deletes them, or fences them: on a cluster it
// is a write that decides.
const (
	sqlStillClaimed = `SELECT id FROM onerow_job FORCE INDEX (PRIMARY) WHERE worker = ? AND token = 1 AND state = 'running' AND id IN `
	sqlFenceAll     = `UPDATE onerow_job FORCE INDEX (PRIMARY) SET batch_seq = batch_seq + 1, due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE id IN `
)

// Lock locks those of the jobs that are the claim's still, and were never claimed before, and says which
// these are. One statement.
func (c *Claim) Lock(ctx context.Context, db onerow.DB, ids []int64) (claimed map[int64]bool, err error) {
	found, err := readIDs(ctx, db, sqlStillClaimed+in(ids)+" FOR UPDATE", c.value)
	claimed = map[int64]bool{}
	for _, id := range found {
		claimed[id] = true
	}
	return claimed, err
}

// sqlArchiveAll and sqlDropAll follow on the rows that sqlStillClaimed has locked.
const (
	sqlArchiveAll = sqlArchive + `'done', ? FROM onerow_job FORCE INDEX (PRIMARY) WHERE id IN `
	sqlDropAll    = `DELETE j FROM onerow_job AS j FORCE INDEX (PRIMARY) WHERE j.id IN `
)

// Note notes what a batch has done for jobs that it has locked, and under which plan they were begun. It
// moves those that have ended to the archive, as [Done], and renews the leases of the others that it has
// begun. Up to six statements.
func (c *Claim) Note(ctx context.Context, tx *onerow.Tx, plan string, jobs []Counted) error {
	var begun, ended []int64
	for _, job := range jobs {
		switch {
		case job.Ended:
			ended = append(ended, job.JobID)
		case job.rows() > 0:
			begun = append(begun, job.JobID)
		}
	}
	if len(begun)+len(ended) == 0 {
		return nil
	}
	err := storePlan(ctx, tx, plan, slices.Concat(begun, ended)...)
	if err == nil && len(begun) > 0 {
		_, err = tx.ExecContext(ctx, sqlFenceAll+in(begun), c.lease.Microseconds())
	}
	if err == nil && len(ended) > 0 {
		if _, err = tx.ExecContext(ctx, sqlArchiveAll+in(ended), c.worker); err == nil {
			_, err = tx.ExecContext(ctx, sqlDropAll+in(ended))
		}
	}
	if err != nil {
		return err
	}
	return Count(ctx, tx, jobs...)
}
