package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// sqlFinished asks the archive, by its primary key and with a lock, whether a job has ended under the id.
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

// distinct gives an open job, which this transaction has queued, another id if a finished job has its, and
// returns the one that it has now: the new one is above all others, and so is the next job's. What the older
// job has counted and parked stays with the older job. One statement, 5 when the job gets another id.
func distinct(ctx context.Context, tx *onerow.Tx, jobID int64) (id int64, err error) {
	var one int
	err = onerow.QueryRow(ctx, tx, sqlFinished, []any{jobID}, &one)
	if errors.Is(err, sql.ErrNoRows) {
		return jobID, nil
	}
	if err == nil {
		id, err = renumber(ctx, tx, jobID)
	}
	if err != nil {
		return 0, fmt.Errorf("give job %d, whose id a finished job has, another one: %w", jobID, err)
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
