package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
)

// Restoring is a job that is held while its rows come back from the trash.
type Restoring struct {
	Resource, ResourceID string
	JobID, DeletionID    int64
	token                int64
}

// restoringText is the error of a job that is held for a restore. By it Cancel tells what was restored from
// what was cancelled.
const restoringText = "its rows come back from the trash: run cascade-worker restore again if nobody does, or retry the job to let the deletion go on"

// sqlHoldRestored takes an open job from whoever has it, by its key: its token is superseded, and no worker
// sees it as due. Assignments go from left to right: due_at still sees the old state. sqlRestored reads what
// it has written.
const (
	sqlHoldRestored = `UPDATE onerow_job SET due_at = IF(state IN ('held', 'paused'), due_at, due_at + ` + heldFor + `), state = 'held', token = token + 1, worker = NULL,
  last_error = ` + dbtext.Param + `, batch_seq = batch_seq + 1 WHERE id = ?`
	sqlRestored = `SELECT resource, resource_id, deletion_id, token FROM onerow_job WHERE id = ?`
)

// LockEnded locks a job if it has ended, by its key, and says whether it has. One statement.
func LockEnded(ctx context.Context, tx *onerow.Tx, jobID int64) (ended bool, err error) {
	n, err := onerow.Affected(ctx, tx, sqlLockArchived, jobID)
	return n > 0, err
}

// HoldForRestore takes a job from the workers while its rows come back; ended says that [LockEnded] has
// locked it, and it is reopened. It is held until [Cancel], which ends it as [Restored], or until [Retry].
// Errors: [ErrNoJob]; [ErrOpenJob]. Two statements, 2 more for a job that has ended, 1 more with an actor.
func HoldForRestore(ctx context.Context, tx *onerow.Tx, jobID int64, ended bool) (Restoring, error) {
	if ended {
		if err := reopen(ctx, tx, jobID, sqlUnarchive); err != nil {
			return Restoring{}, err
		}
	}
	n, err := onerow.Affected(ctx, tx, sqlHoldRestored, dbtext.Arg(restoringText), jobID)
	if err == nil && n == 0 {
		err = ErrNoJob
	}
	if err != nil {
		return Restoring{}, err
	}
	r := Restoring{JobID: jobID}
	var resource, key []byte
	err = onerow.QueryRow(ctx, tx, sqlRestored, []any{jobID}, &resource, &key, &r.DeletionID, &r.token)
	if r.Resource, r.ResourceID = string(resource), string(key); err != nil {
		return r, err
	}
	return r, act(ctx, tx, Action{Action: ActionRestore, Resource: r.Resource, ResourceID: r.ResourceID, DeletionID: r.DeletionID, JobID: jobID})
}

// sqlRestoreFence proves the token, by the primary key. It changes the row always.
const sqlRestoreFence = `UPDATE onerow_job SET batch_seq = batch_seq + 1 WHERE id = ? AND token = ? AND state = 'held'`

// ErrRestoreLost means that somebody else brings the rows back, or that the row is being deleted again.
var ErrRestoreLost = errors.New("cascade: the restore was overtaken")

// Fence proves that the job is held for this restore still: the first statement of every batch. Errors:
// [ErrRestoreLost]. One statement.
func (r Restoring) Fence(ctx context.Context, tx *onerow.Tx) error {
	n, err := onerow.Affected(ctx, tx, sqlRestoreFence, r.JobID, r.token)
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: by another restore, a retry, or a new deletion of %s %s", ErrRestoreLost, r.Resource, r.ResourceID)
	}
	return err
}
