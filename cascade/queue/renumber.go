package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// sqlFinished asks the archive, by its primary key and with a lock, whether a job has
// ended under the id.
const sqlFinished = `SELECT 1 FROM onerow_job_archive WHERE id = ? LOCK IN SHARE MODE`

// sqlTop reads the ends of the two primary keys; it decides nothing.
const sqlTop = `SELECT GREATEST(COALESCE((SELECT MAX(id) FROM onerow_job), 0), COALESCE((SELECT MAX(id) FROM onerow_job_archive), 0))`

// A row that is inserted with an id raises AUTO_INCREMENT above it on every engine, for good and at once,
// which an UPDATE does not; so it is inserted and deleted again. Nobody sees it. (The DELETE names its table
// twice, for MariaDB answers a plain one that is killed with OK.) Whoever loses a race for the id finds
// AUTO_INCREMENT raised. All three write by the primary key.
const (
	sqlRaise    = `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at) VALUES (?, '', ?, 0, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`
	sqlLower    = `DELETE j FROM onerow_job AS j WHERE j.id = ?`
	sqlRenumber = `UPDATE onerow_job SET id = ?, batch_seq = batch_seq + 1 WHERE id = ?`
)

// Renumber gives an open job another id if a finished job has its: AUTO_INCREMENT of
// onerow_job falls below the ids of the archive where that table is rebuilt by copying it,
// or restored without its definition. The new id is above all others, and so is the next
// job's; what the older job has counted and parked stays with the older job. It returns the
// id that the job has now. Give it the transaction that queued the job; workers see to it
// when they claim a job.
//
// One statement, 5 when the job gets another id; in a transaction of its own on a pool.
func Renumber(ctx context.Context, db onerow.DB, jobID int64) (int64, error) {
	id := jobID
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		id = jobID
		var one int
		if err = onerow.QueryRow(ctx, tx, sqlFinished, []any{jobID}, &one); errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			id, err = renumber(ctx, tx, jobID)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("cascade: give job %d, whose id a finished job has, another one: %w", jobID, err)
	}
	return id, nil
}

// renumber moves an open job to an id that nobody has.
func renumber(ctx context.Context, tx *onerow.Tx, jobID int64) (fresh int64, err error) {
	if err := onerow.QueryRow(ctx, tx, sqlTop, nil, &fresh); err != nil {
		return 0, err
	}
	fresh++
	_, err = tx.ExecContext(ctx, sqlRaise, fresh, jobID)
	if mysqlerr.Classify(err) == mysqlerr.Duplicate {
		var res sql.Result
		if res, err = tx.ExecContext(ctx, sqlRaise, nil, jobID); err == nil {
			fresh, err = res.LastInsertId()
		}
	}
	if err != nil {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, sqlLower, fresh); err != nil {
		return 0, err
	}
	n, err := onerow.Affected(ctx, tx, sqlRenumber, fresh, jobID)
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: %d is not open", ErrNoJob, jobID)
	}
	return fresh, err
}
