package queue

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/internal/dbtext"
)

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

// HoldForRestore takes a job from the workers while its rows come back; one that has ended it reopens. Before
// it changes anything, and under the lock of a job that has ended, it asks check, whose error it returns;
// once more if the job ends meanwhile. The job is held until [Cancel], which ends it as [Restored], or until
// [Retry]. It returns the job's resource, ids and token. Errors: [ErrNoJob]; [ErrOpenJob]. Three statements,
// 2 more for a job that has ended, 1 more with an actor.
//
// The first statement of every batch is fence: it proves that the job is held for this restore still. Else
// its error says what has become of the job: [ErrWrongState]; [ErrNoJob]. One statement, 2 with an error.
func HoldForRestore(ctx context.Context, tx *onerow.Tx, jobID int64, check func(ended bool) error) (held Job, fence func(context.Context, *onerow.Tx) error, err error) {
	var ended, there bool
	for try := 0; try < lockTries && !there && err == nil; try++ { // it may end between two looks
		if ended, err = affected(ctx, tx, sqlLockArchived, jobID); err == nil {
			err = check(ended)
		}
		if err == nil && ended {
			err = reopen(ctx, tx, jobID, sqlUnarchive)
		}
		if err == nil {
			there, err = affected(ctx, tx, sqlHoldRestored, dbtext.Arg(restoringText), jobID)
		}
	}
	if err == nil && !there {
		err = ErrNoJob
	}
	if err != nil {
		return Job{}, nil, err
	}
	held = Job{ID: jobID, State: Held}
	var resource, key []byte
	err = onerow.QueryRow(ctx, tx, sqlRestored, []any{jobID}, &resource, &key, &held.DeletionID, &held.Token)
	held.Resource, held.ResourceID = string(resource), string(key)
	if err == nil {
		err = actOnJob(ctx, tx, actionRestore, held, "")
	}
	return held, func(ctx context.Context, tx *onerow.Tx) error { return fenceRestore(ctx, tx, held) }, err
}

// sqlRestoreFence proves the token, by the primary key. It changes the row always.
const sqlRestoreFence = `UPDATE onerow_job SET batch_seq = batch_seq + 1 WHERE id = ? AND token = ? AND state = 'held'`

// fenceRestore is the fence of a job that [HoldForRestore] has held.
func fenceRestore(ctx context.Context, tx *onerow.Tx, job Job) error {
	ours, err := affected(ctx, tx, sqlRestoreFence, job.ID, job.Token)
	if err != nil || ours {
		return err
	}
	now, err := answer(ctx, tx, job.ID)
	if err != nil {
		return err
	}
	what := "it is " + string(now.State)
	switch {
	case now.State == Held && now.Token == job.Token: // the statement was ended, and answered all the same
		return fault.ErrEndedUnsaid
	case now.State == Held && now.LastError == restoringText:
		what = "another restore has begun since, and goes on instead"
	case now.State.Open() && now.State != Held:
		what = "a retry or a new deletion has let it go on meanwhile, " + what
	}
	return fmt.Errorf("%w: %s", ErrWrongState, what)
}
