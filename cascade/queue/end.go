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
// attempt, without what is secret in it. [Dead] moves it to the archive. It returns false where another
// worker has the job by then, and its own outcome. One statement, 3 for a dead one, in a transaction of its
// own on a pool.
func (job Claimed) Return(ctx context.Context, db onerow.DB, state State, failures int, cause error, pause time.Duration) (ours bool, err error) {
	put := func(ctx context.Context, db onerow.DB, state State) error {
		n, err := onerow.Affected(ctx, db, sqlEnded, string(state), failures, dbtext.Arg(fault.Redact(cause)), pause.Microseconds(), job.ID, job.Token)
		ours = n > 0
		return err
	}
	if state != Dead {
		err = put(ctx, db, state)
		return ours, err
	}
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := put(ctx, tx, Running); err != nil || !ours {
			return err
		}
		return job.End(ctx, tx, Dead, "")
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

// sqlSpared follows on the row that the fence has locked.
const sqlSpared = `UPDATE onerow_job SET last_error = ` + dbtext.Param + `, batch_seq = batch_seq + 1 WHERE id = ? AND token = ?`

// End moves the job, whose lease this transaction has renewed, to the archive. One that was not to delete
// anything says why. Two statements, 3 with a reason.
func (job Claimed) End(ctx context.Context, tx *onerow.Tx, state State, why string) error {
	if why != "" {
		if _, err := tx.ExecContext(ctx, sqlSpared, dbtext.Arg(why), job.ID, job.Token); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, sqlArchiveOne, string(state), job.Worker, job.ID, job.Token); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, sqlDrop, job.ID, job.Token)
	return err
}
