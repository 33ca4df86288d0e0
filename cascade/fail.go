package cascade

import (
	"context"
	"fmt"
	"time"

	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/queue"
)

// postponement is the pause of a job that could not be worked for want of the database.
const postponement = time.Second

// fail counts a failure: the job is due again after a pause, or dead, if it is hopeless at once. One
// statement, 5 when it is dead.
func (w *Worker) fail(ctx context.Context, job queue.Claimed, cause error, hopeless bool) error {
	failures := job.Failures + 1
	if failures >= w.cfg.MaxFailures || hopeless {
		return w.store(ctx, job, queue.Dead, 1, cause, 0)
	}
	return w.store(ctx, job, queue.Ready, 1, cause, backoff.After(failures))
}

// store ends an attempt, and tells of that, or that it was another worker's by then.
func (w *Worker) store(ctx context.Context, job queue.Claimed, state queue.State, failures int, cause error, pause time.Duration) error {
	ctx, cancel := finishing(ctx)
	defer cancel()
	ours, err := job.Return(ctx, w.db, state, failures, cause, pause)
	switch {
	case err != nil:
		return fmt.Errorf("cascade: store that job %d is %s after an error; it is due when its lease ends: %w", job.ID, state, err)
	case ours:
		w.tell(Event{Ended: state})
	default:
		w.lost(ctx, job)
	}
	return nil
}
