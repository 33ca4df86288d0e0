package queue

import (
	"context"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
)

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
// would have ended. Errors: [ErrNoJob]; [ErrWrongState] when it has ended or is held.
func PauseJob(ctx context.Context, db onerow.DB, jobID int64, reason string) (Job, error) {
	return verb{name: "pause", action: actionPause, reason: reason, change: func(ctx context.Context, tx *onerow.Tx) (bool, error) {
		return affected(ctx, tx, sqlPauseJob, reasonArg(reason), jobID)
	}}.do(ctx, db, jobID)
}

// ResumeJob lets a paused job go on, in its grace period if that has not ended, else as soon as a worker is
// free. Any other job is returned as it is. The error is [ErrNoJob] if there is none.
func ResumeJob(ctx context.Context, db onerow.DB, jobID int64) (Job, error) {
	return verb{
		name: "resume", action: actionResume,
		settled: func(State) bool { return true },
		change:  func(ctx context.Context, tx *onerow.Tx) (bool, error) { return affected(ctx, tx, sqlResumeJob, jobID) },
	}.do(ctx, db, jobID)
}
