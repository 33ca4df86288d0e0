package queue

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
)

// sqlLog appends; it waits for nobody.
const sqlLog = `INSERT INTO onerow_deletion (resource, resource_id, owner, deleted_from, grace_us, requested_at)
VALUES (?, ?, ?, ?, ?, UTC_TIMESTAMP(6))`

// Log writes the audit row of a deletion and returns its id, which goes into
// Deletion.ID. It is what a delete does first. There is no unique key on purpose:
// a retried delete may log twice. One statement, 2 with an actor.
func Log(ctx context.Context, db onerow.DB, d Deletion) (deletionID int64, err error) {
	if err := d.check(); err != nil {
		return 0, err
	}
	var owner any
	if d.Owner != "" {
		owner = []byte(d.Owner)
	}
	err = Noted(ctx, db, func(ctx context.Context, db onerow.DB) (Action, error) {
		res, err := db.ExecContext(ctx, sqlLog, d.Resource, []byte(d.ResourceID), owner, d.From, d.Grace.Microseconds())
		if err == nil {
			deletionID, err = res.LastInsertId()
		}
		return Action{Action: ActionDelete, Resource: d.Resource, ResourceID: d.ResourceID, DeletionID: deletionID}, err
	})
	if err != nil {
		return 0, fmt.Errorf("cascade: log the deletion of %s %s: %w", d.Resource, d.ResourceID, err)
	}
	return deletionID, nil
}

// sqlEnqueue: the unique key one_open decides, in this one statement, whether the row gets a job or has one.
// An open job's row is locked exclusively at once, so that two callers do not deadlock over a share lock, as
// they would after a 1062. A held job is scheduled again. It always changes something (batch_seq), so 1
// affected row means inserted and 2 mean that a job is open, whatever clientFoundRows is. A running job is
// locked for one batch at most.
const sqlEnqueue = `INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at)
VALUES (?, ?, ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE
  due_at = CASE state WHEN 'scheduled' THEN LEAST(due_at, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)
    WHEN 'held' THEN LEAST(due_at - ` + heldFor + `, VALUES(due_at)) ELSE due_at END,
  state = IF(state = 'held', 'scheduled', state),
  batch_seq = batch_seq + 1,
  id = LAST_INSERT_ID(id)`

// sqlKeepNothing marks a job that is to keep nothing from now on, for as long as jobs are remembered: its
// step 0, by the trash's primary key.
const sqlKeepNothing = `INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at)
VALUES (?, 0, '', '', 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 400 DAY) ON DUPLICATE KEY UPDATE expires_at = VALUES(expires_at)`

// Enqueue queues the cascade of a deletion: ready at once, or scheduled for the end
// of the grace period. Give it the transaction that deletes or hides the root row.
//
// When a job is open for the row it is returned instead: a scheduled or held one, which is
// scheduled then, after it was given the earlier of the two times, a ready or running one as it is. Compare
// DeletionID to tell. A paused one stays so. A job that was just made is returned without its times,
// which only the database knows.
//
// One statement, 2 when a job is open, 1 more with NoTrash; in a transaction of its own on a pool. Calling
// it again is safe, also after [onerow.ErrOutcomeUnknown].
func Enqueue(ctx context.Context, db onerow.DB, d Deletion) (Job, error) {
	if err := d.check(); err != nil {
		return Job{}, err
	}
	job := Job{Resource: d.Resource, ResourceID: d.ResourceID, DeletionID: d.ID, State: Ready, Tables: map[string]int64{}}
	grace := d.Grace.Microseconds()
	if grace > 0 {
		job.State = Scheduled
	}
	var out Job
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		out = job
		res, err := tx.ExecContext(ctx, sqlEnqueue, d.Resource, []byte(d.ResourceID), d.ID, string(job.State), grace, grace)
		if err != nil {
			return err
		}
		affected, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if out.ID, err = res.LastInsertId(); err != nil {
			return err
		}
		if d.NoTrash {
			if _, err := tx.ExecContext(ctx, sqlKeepNothing, out.ID); err != nil {
				return err
			}
		}
		if affected > 1 {
			out, err = Get(ctx, tx, out.ID)
		}
		return err
	})
	if err != nil {
		return Job{}, fmt.Errorf("cascade: enqueue %s %s: %w", d.Resource, d.ResourceID, err)
	}
	return out, nil
}
