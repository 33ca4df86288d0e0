package queue

import (
	"context"
	"database/sql"

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
	claimed = map[int64]bool{}
	return claimed, onerow.Query(ctx, db, sqlStillClaimed+in(ids)+" FOR UPDATE", []any{c.value}, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		claimed[id] = true
		return err
	})
}

// RenewAll renews the leases of jobs that this transaction has locked. One statement, none without jobs.
func (c *Claim) RenewAll(ctx context.Context, tx *onerow.Tx, by Claimant, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, sqlFenceAll+in(ids), by.Lease.Microseconds())
	return err
}

// sqlArchiveAll and sqlDropAll follow on the rows that sqlStillClaimed has locked.
const (
	sqlArchiveAll = sqlArchive + `'done', ? FROM onerow_job FORCE INDEX (PRIMARY) WHERE id IN `
	sqlDropAll    = `DELETE j FROM onerow_job AS j FORCE INDEX (PRIMARY) WHERE j.id IN `
)

// EndAll moves jobs that this transaction has locked to the archive, as [Done]. Two statements, none without
// jobs.
func (c *Claim) EndAll(ctx context.Context, tx *onerow.Tx, by Claimant, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, sqlArchiveAll+in(ids), by.Name); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, sqlDropAll+in(ids))
	return err
}
