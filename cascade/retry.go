package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// reviveSQL decides, on the row locked by its key, which of two callers retries the
// job. (The INSERT … SELECT alone would lock nothing at READ COMMITTED.)
const reviveSQL = `UPDATE onerow_job_archive SET batch_seq = batch_seq + 1 WHERE id = ? AND state IN ('dead', 'leftovers')`

// reopenSQL: the unique key one_open decides whether the row has another open job.
// The token goes on where it was, so that no old worker's token is ever given again.
const reopenSQL = `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, last_error, created_at, started_at)
SELECT id, resource, resource_id, deletion_id, 'ready', UTC_TIMESTAMP(6), token, batch_seq, 0, last_error, created_at, started_at
FROM onerow_job_archive WHERE id = ?`

// Both follow on the row that reviveSQL or lockArchivedSQL has locked, and delete by
// primary keys and by one_row's part of the job. The plan of the job is forgotten, so
// that it may go on under another one.
const (
	unarchiveSQL = `DELETE a, t, p FROM onerow_job_archive AS a LEFT JOIN onerow_job_trouble AS t ON t.job_id = a.id
LEFT JOIN onerow_job_plan AS p ON p.job_id = a.id WHERE a.id = ?`
	unarchiveAllSQL = `DELETE a, t, p, k FROM onerow_job_archive AS a LEFT JOIN onerow_job_trouble AS t ON t.job_id = a.id
LEFT JOIN onerow_job_plan AS p ON p.job_id = a.id LEFT JOIN onerow_parked AS k ON k.job_id = a.id AND k.state = 'parked' WHERE a.id = ?`
)

// otherOpenSQL asks, after a duplicate, which job it was. It locks, for a snapshot
// could be older than that job.
const otherOpenSQL = `SELECT o.id FROM onerow_job_archive AS d JOIN onerow_job AS o ON o.resource = d.resource AND o.resource_id = d.resource_id
WHERE d.id = ? LOCK IN SHARE MODE`

// Retry makes a job ready again that is dead or ended with leftovers: the same id, no
// failures, due at once. Its counts go on from where they were. The rows that it parked
// are tried again, those that were skipped are not; the plan that it was begun under is
// forgotten. Errors: [ErrNoJob]; [ErrNotDead] with the state it is in (so also when an
// earlier call has retried it); [ErrOpenJob] when the row was deleted again since and that
// job is open.
//
// Four statements, 2 when it is neither; in a transaction of its own on a pool. Calling
// it again is safe, also after [onerow.ErrOutcomeUnknown].
func Retry(ctx context.Context, db onerow.DB, jobID int64) (Job, error) {
	var job Job
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, reviveSQL, jobID)
		if err != nil {
			return err
		}
		if n == 0 {
			if job, err = Get(ctx, tx, jobID); err != nil {
				return err
			}
			return &NotDeadError{JobID: jobID, State: job.State}
		}
		if err := reopen(ctx, tx, jobID, unarchiveAllSQL); err != nil {
			return err
		}
		job, err = Get(ctx, tx, jobID)
		return err
	})
	if err != nil {
		return Job{}, fmt.Errorf("cascade: retry job %d: %w", jobID, err)
	}
	return job, nil
}

// reopen moves a job, whose row this transaction has locked, out of the archive.
func reopen(ctx context.Context, tx *onerow.Tx, jobID int64, unarchive string) error {
	if _, err := tx.ExecContext(ctx, reopenSQL, jobID); err != nil {
		return whichIsOpen(ctx, tx, jobID, err)
	}
	_, err := tx.ExecContext(ctx, unarchive, jobID)
	return err
}

func whichIsOpen(ctx context.Context, tx *onerow.Tx, jobID int64, err error) error {
	if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return err
	}
	var open int64
	switch ask := onerow.QueryRow(ctx, tx, otherOpenSQL, []any{jobID}, &open); {
	case errors.Is(ask, sql.ErrNoRows):
		return err
	case ask != nil:
		return ask
	}
	return &OpenJobError{JobID: jobID, Open: open}
}
