package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/internal/dbtext"
)

// ErrNotOpen means that a job can be neither paused nor cancelled: it has ended, or is held.
var ErrNotOpen = errors.New("cascade: no worker can have the job")

// sqlPauseJob takes a job from whoever has it, by the primary key: a running batch ends before, and the next
// one's fence fails. So no worker asks for it, and none sees it as due. Assignments go from left to right:
// due_at and token still see the old state. sqlResumeJob gives it its own time back; what has begun cannot be
// cancelled.
const (
	sqlPauseJob = `UPDATE onerow_job SET due_at = CASE state WHEN 'paused' THEN due_at WHEN 'running' THEN UTC_TIMESTAMP(6) + ` + heldFor + ` ELSE due_at + ` + heldFor + ` END,
  token = token + (state = 'running'), state = 'paused', worker = NULL, last_error = ` + dbtext.Param + `, batch_seq = batch_seq + 1
WHERE id = ? AND state IN ('scheduled', 'ready', 'running', 'paused')`
	sqlResumeJob = `UPDATE onerow_job SET due_at = due_at - ` + heldFor + `, state = IF(token = 0, 'scheduled', 'ready'), batch_seq = batch_seq + 1
WHERE id = ? AND state = 'paused'`
)

// PauseJob takes one job from the workers until [ResumeJob]: none claims it, and the one that has it stops
// after its batch and goes on with others. It is no failure. The reason is shown as [Job].LastError; pausing
// again gives another one. A job that is paused in its grace period can still be cancelled, also when that
// would have ended. Errors: [ErrNoJob]; [ErrNotOpen] when it has ended or is held.
//
// Two statements, 3 with an actor; in a transaction of its own on a pool. Calling it again is safe, also
// after [onerow.ErrOutcomeUnknown].
func PauseJob(ctx context.Context, db onerow.DB, jobID int64, reason string) (Job, error) {
	var job Job
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, sqlPauseJob, dbtext.Arg(dbtext.Fit(reason, fault.MaxText)), jobID)
		if err != nil {
			return err
		}
		if job, err = answer(ctx, tx, jobID); err == nil && n == 0 {
			err = fmt.Errorf("%w: it is %s", ErrNotOpen, job.State)
		}
		if err != nil {
			return err
		}
		return actOnJob(ctx, tx, ActionPause, job, reason)
	})
	if err != nil {
		return Job{}, fmt.Errorf("cascade: pause job %d: %w", jobID, err)
	}
	return job, nil
}

// ResumeJob lets a paused job go on, in its grace period if that has not ended, else as soon as a worker is
// free. Any other job is returned as it is. The error is [ErrNoJob] if there is none. Two statements, 3 with
// an actor; in a transaction of its own on a pool. Calling it again is safe.
func ResumeJob(ctx context.Context, db onerow.DB, jobID int64) (Job, error) {
	var job Job
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, sqlResumeJob, jobID)
		if err == nil {
			job, err = answer(ctx, tx, jobID)
		}
		if err != nil || n == 0 {
			return err
		}
		return actOnJob(ctx, tx, ActionResume, job, "")
	})
	if err != nil {
		return Job{}, fmt.Errorf("cascade: resume job %d: %w", jobID, err)
	}
	return job, nil
}
