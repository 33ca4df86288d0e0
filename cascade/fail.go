package cascade

import (
	"context"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/queue"
)

// postponement is the pause of a job that could not be worked for want of the database.
const postponement = time.Second

// leaseOf is what the worker may write about a job that it has claimed.
func (w *Worker) leaseOf(job queue.Claimed) queue.Lease {
	return queue.Lease{JobID: job.ID, Token: job.Token, Worker: w.cfg.Name}
}

func (l *lease) claimed() queue.Lease { return l.leaseOf(l.job) }

// postpone makes the job due a little later. It is no failure. One statement.
func (w *Worker) postpone(ctx context.Context, job queue.Claimed, cause error) error {
	return w.store(ctx, job, queue.Ready, 0, cause, backoff.Jitter(postponement))
}

// fail counts a failure: the job is due again after a pause, or dead, if it is hopeless at once. One
// statement, 5 when it is dead.
func (w *Worker) fail(ctx context.Context, job queue.Claimed, cause error, hopeless bool) error {
	failures := job.Failures + 1
	if failures < w.cfg.MaxFailures && !hopeless {
		return w.store(ctx, job, queue.Ready, 1, cause, backoff.After(failures))
	}
	ctx, cancel := finishing(ctx)
	defer cancel()
	ours, err := w.leaseOf(job).Die(ctx, w.db, cause)
	if err != nil {
		return fmt.Errorf("cascade: job %d is dead, which could not be stored: %w", job.ID, err)
	}
	w.tellEnded(queue.Dead, ours)
	return nil
}

func (w *Worker) store(ctx context.Context, job queue.Claimed, state queue.State, failures int, cause error, pause time.Duration) error {
	ctx, cancel := finishing(ctx)
	defer cancel()
	ours, err := w.leaseOf(job).Return(ctx, w.db, state, failures, cause, pause)
	if err != nil {
		return fmt.Errorf("cascade: store the failure of job %d, which is due when its lease ends: %w", job.ID, err)
	}
	w.tellEnded(state, ours)
	return nil
}

// tellEnded tells of the end of an attempt, or that it was another worker's by then.
func (w *Worker) tellEnded(state queue.State, ours bool) {
	if ours {
		w.tell(Ended{state})
		return
	}
	w.tell(LeaseLost{})
}

// End moves the job to the archive, in its last batch.
func (l *lease) End(ctx context.Context, tx *onerow.Tx, leftovers bool) error {
	if l.state = queue.Done; leftovers {
		l.state = queue.Leftovers
	}
	return l.claimed().End(ctx, tx, l.state)
}

// Spare moves a job that is not to delete anything to the archive, in its only batch.
func (l *lease) Spare(ctx context.Context, tx *onerow.Tx, why string) error {
	l.state = queue.Cancelled
	return l.claimed().Spare(ctx, tx, why)
}
