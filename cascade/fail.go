package cascade

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/internal/dbtext"
)

// postponement is the pause of a job that could not be worked for want of the database.
const postponement = time.Second

// sqlEnded notes an attempt that did not end the job, by the primary key and only
// for the holder of the token, who alone changes the failures.
const sqlEnded = `UPDATE onerow_job SET state = ?, failures = failures + ?, last_error = ` + dbtext.Param + `, worker = NULL, batch_seq = batch_seq + 1,
  due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE id = ? AND token = ? AND state = 'running'`

// postpone makes the job due a little later. It is no failure. One statement.
func (w *Worker) postpone(ctx context.Context, job Job, cause error) error {
	return w.store(ctx, job, Ready, 0, cause, backoff.Jitter(postponement))
}

// fail counts a failure: the job is due again after a pause, or dead. One statement,
// 5 when it is dead.
func (w *Worker) fail(ctx context.Context, job Job, cause error) error {
	failures := job.Failures + 1
	if failures < w.cfg.MaxFailures && !hopeless(cause) {
		return w.store(ctx, job, Ready, 1, cause, backoff.After(failures))
	}
	ctx, cancel := finishing(ctx)
	defer cancel()
	ours := false
	err := onerow.InTx(ctx, w.db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, sqlEnded, string(Running), 1, dbtext.Arg(fault.Redact(cause)), 0, job.ID, job.Token)
		if ours = n > 0; err != nil || !ours {
			return err // another worker has the job, and its own outcome
		}
		l := lease{Worker: w, job: job}
		return l.archive(ctx, tx, Dead)
	})
	if err != nil {
		return fmt.Errorf("cascade: job %d is dead, which could not be stored: %w", job.ID, err)
	}
	w.tellEnded(Dead, ours)
	return nil
}

func (w *Worker) store(ctx context.Context, job Job, state State, failures int, cause error, pause time.Duration) error {
	ctx, cancel := finishing(ctx)
	defer cancel()
	n, err := onerow.Affected(ctx, w.db, sqlEnded, string(state), failures, dbtext.Arg(fault.Redact(cause)), pause.Microseconds(), job.ID, job.Token)
	if err != nil {
		return fmt.Errorf("cascade: store the failure of job %d, which is due when its lease ends: %w", job.ID, err)
	}
	w.tellEnded(state, n > 0)
	return nil
}

// tellEnded tells of the end of an attempt, or that it was another worker's by then.
func (w *Worker) tellEnded(state State, ours bool) {
	if ours {
		w.cfg.Observer.Ended(state)
		return
	}
	w.cfg.Observer.LeaseLost()
}

// sqlArchive and sqlDrop follow on the row that the fence, or sqlEnded, has locked.
const (
	sqlArchive = `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, worker, batch_seq,
  failures, last_error, created_at, started_at, finished_at)
SELECT id, resource, resource_id, deletion_id, ?, due_at, token, ?, batch_seq, failures, last_error, created_at, started_at, UTC_TIMESTAMP(6)
FROM onerow_job WHERE id = ? AND token = ?`
	sqlDrop = `DELETE j FROM onerow_job AS j WHERE j.id = ? AND j.token = ?`
)

// archive moves the job, whose row this transaction has locked, to the archive.
func (l *lease) archive(ctx context.Context, tx *onerow.Tx, state State) error {
	l.state = state
	if _, err := tx.ExecContext(ctx, sqlArchive, string(state), l.cfg.Name, l.job.ID, l.job.Token); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, sqlDrop, l.job.ID, l.job.Token)
	return err
}

// End moves the job to the archive, in its last batch.
func (l *lease) End(ctx context.Context, tx *onerow.Tx, leftovers bool) error {
	if leftovers {
		return l.archive(ctx, tx, Leftovers)
	}
	return l.archive(ctx, tx, Done)
}

// sqlSpared follows on the row that the fence has locked.
const sqlSpared = `UPDATE onerow_job SET last_error = ` + dbtext.Param + `, batch_seq = batch_seq + 1 WHERE id = ? AND token = ?`

// Spare moves a job that is not to delete anything to the archive, in its only batch.
func (l *lease) Spare(ctx context.Context, tx *onerow.Tx, why string) error {
	if _, err := tx.ExecContext(ctx, sqlSpared, dbtext.Arg(why), l.job.ID, l.job.Token); err != nil {
		return err
	}
	return l.archive(ctx, tx, Cancelled)
}

// hopeless is what a job does not get over by being tried again.
func hopeless(err error) bool { return errors.Is(err, errDrift) || errors.Is(err, work.ErrParked) }
