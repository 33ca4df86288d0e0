package queue

import (
	"context"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/internal/dbtext"
)

// sqlEnded notes an attempt that did not end the job, by the primary key and only
// for the holder of the token, who alone changes the failures.
const sqlEnded = `UPDATE onerow_job SET state = ?, failures = failures + ?, last_error = ` + dbtext.Param + `, worker = NULL, batch_seq = batch_seq + 1,
  due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE id = ? AND token = ? AND state = 'running'`

// Return gives the job back, due after a pause, with so many failures more and the error that ended the
// attempt, without what is secret in it. It returns false where another worker has the job by then, and its
// own outcome. One statement.
func (l Lease) Return(ctx context.Context, db onerow.DB, state State, failures int, cause error, pause time.Duration) (ours bool, err error) {
	n, err := onerow.Affected(ctx, db, sqlEnded, string(state), failures, dbtext.Arg(fault.Redact(cause)), pause.Microseconds(), l.JobID, l.Token)
	return n > 0, err
}

// Die counts a failure and moves the job to the archive, as [Dead]. It returns false where another worker has
// the job by then. Three statements, in a transaction of its own on a pool.
func (l Lease) Die(ctx context.Context, db onerow.DB, cause error) (ours bool, err error) {
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if ours, err = l.Return(ctx, tx, Running, 1, cause, 0); err != nil || !ours {
			return err
		}
		return l.End(ctx, tx, Dead)
	})
	return ours, err
}

// sqlArchive copies jobs into the archive; the state and the worker that they have there follow, and from
// where. sqlArchiveOne and sqlDrop follow on the row that the fence, or sqlEnded, has locked.
const (
	sqlArchive = `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, due_at, token, batch_seq,
  failures, last_error, created_at, started_at, finished_at, state, worker)
SELECT id, resource, resource_id, deletion_id, due_at, token, batch_seq, failures, last_error, created_at, started_at, UTC_TIMESTAMP(6), `
	sqlArchiveOne = sqlArchive + `?, ? FROM onerow_job WHERE id = ? AND token = ?`
	sqlDrop       = `DELETE j FROM onerow_job AS j WHERE j.id = ? AND j.token = ?`
)

// End moves the job, whose lease this transaction has renewed, to the archive. Two statements.
func (l Lease) End(ctx context.Context, tx *onerow.Tx, state State) error {
	if _, err := tx.ExecContext(ctx, sqlArchiveOne, string(state), l.Worker, l.JobID, l.Token); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, sqlDrop, l.JobID, l.Token)
	return err
}

// sqlSpared follows on the row that the fence has locked.
const sqlSpared = `UPDATE onerow_job SET last_error = ` + dbtext.Param + `, batch_seq = batch_seq + 1 WHERE id = ? AND token = ?`

// Spare is End for a job that is not to delete anything, with the reason. Three statements.
func (l Lease) Spare(ctx context.Context, tx *onerow.Tx, why string) error {
	if _, err := tx.ExecContext(ctx, sqlSpared, dbtext.Arg(why), l.JobID, l.Token); err != nil {
		return err
	}
	return l.End(ctx, tx, Cancelled)
}
