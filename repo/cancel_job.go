package repo

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

const cancellingText = "somebody cancels it: run cascade-worker cancel again if nobody does, or retry the job to let the deletion go on"

// CancelJob ends a deletion that has begun, or not yet: what its job has deleted stays gone, unless
// recover.Job brings it back, what is left stays, and the row itself returns to where it was, as by
// [Restore]. It is for operators: what is below the row is a part of what was. The job says what is gone,
// by table; see also admin.TrashOf. A job that was cancelled before is a success that changes nothing.
//
// Errors: those of [queue.HoldJob] and of [Restore]; after one of Restore the job is held, no worker
// takes it, and CancelJob may be called again.
//
// Atomic are the hold, and the return of the row with the job's end and its quota mark. It may be called
// again after any error or crash.
func CancelJob(ctx context.Context, db *sql.DB, plan schema.Plan, jobID int64) (Restored, queue.Job, error) {
	job, err := queue.HoldJob(ctx, db, jobID, cancellingText)
	if err != nil {
		return Restored{}, job, err
	}
	back := Restored{DeletionID: job.DeletionID, Resource: job.Resource, Key: job.ResourceID}
	switch {
	case job.DeletionID == 0: // queued by SQL of the application's own
		err = queue.Cancel(ctx, db, job.Resource, job.ResourceID, 0)
		back.Changed = err == nil && job.State.Open()
	case job.State == queue.Cancelled, job.State == queue.Restored:
	default:
		back, err = Restore(ctx, db, plan, job.DeletionID)
	}
	if err != nil {
		return back, job, fmt.Errorf("repo: job %d is held, but could not be cancelled: %w", jobID, err)
	}
	job, err = queue.Get(ctx, db, jobID)
	return back, job, err
}
