package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/dbtime"
)

// Parked is a row that a job could not delete, with what is wrong with it. Its job goes
// on without it and ends with [Leftovers].
type Parked struct {
	ID    int64 `json:"id"`
	JobID int64 `json:"job_id"`
	// Resource and ResourceID name the job's root row; "" if the job is gone.
	Resource   string `json:"resource,omitempty"`
	ResourceID string `json:"resource_id,omitempty"`
	// Table and Key say which row it is; the key is encoded, see [onerow.EncodeKey].
	Table string `json:"table"`
	Key   string `json:"key"`
	// Error is why it could not be deleted, shortened.
	Error string `json:"error"`
	// Skipped: somebody has decided that it stays, see [SkipParked].
	Skipped bool `json:"skipped"`
	// ParkedAt is UTC, by the database's clock.
	ParkedAt time.Time `json:"parked_at"`
}

// The states of a parked row, for [ParkedOptions].
const (
	ParkedOpen    = "parked"  // it waits for somebody
	ParkedSkipped = "skipped" // it stays
)

// ParkedOptions says which rows [ListParked] returns. The zero value means the newest 100.
type ParkedOptions struct {
	// JobID limits the list to one job. 0: all.
	JobID int64
	// State limits it to [ParkedOpen] or [ParkedSkipped]. "": both.
	State string
	// After is the id of the last row of the previous page. 0: from the newest.
	After int64
	// Limit is how many rows are returned at most. Default 100, maximum 1000.
	Limit int
}

// sqlParked walks the primary key, the index (state, id), or one_row's part of a job
// backwards, and looks each row's job up by the primary keys of the two tables.
const sqlParked = `SELECT p.id, p.job_id, COALESCE(o.resource, a.resource), COALESCE(o.resource_id, a.resource_id), p.table_name, p.row_key, CAST(p.error AS BINARY),
  p.state = 'skipped', TIMESTAMPDIFF(MICROSECOND, '1970-01-01', p.parked_at)
FROM onerow_parked AS p LEFT JOIN onerow_job AS o ON o.id = p.job_id LEFT JOIN onerow_job_archive AS a ON a.id = p.job_id
WHERE p.id < ?`

// ListParked returns rows that are parked or skipped, the newest first. One statement.
func ListParked(ctx context.Context, db onerow.DB, o ParkedOptions) ([]Parked, error) {
	after, limit := o.After, min(o.Limit, maxLimit)
	if after <= 0 {
		after = math.MaxInt64
	}
	if limit <= 0 {
		limit = defaultLimit
	}
	query, args := sqlParked, []any{after}
	if o.JobID != 0 {
		query, args = query+" AND p.job_id = ?", append(args, o.JobID)
	}
	if o.State != "" {
		query, args = query+" AND p.state = ?", append(args, []byte(o.State))
	}
	var list []Parked
	err := onerow.Query(ctx, db, query+" ORDER BY p.id DESC LIMIT ?", append(args, limit), func(rows *sql.Rows) error {
		var p Parked
		var resource, id, table, key []byte
		var parked sql.NullInt64
		if err := rows.Scan(&p.ID, &p.JobID, &resource, &id, &table, &key, &p.Error, &p.Skipped, &parked); err != nil {
			return err
		}
		p.Resource, p.ResourceID, p.Table, p.Key, p.ParkedAt = string(resource), string(id), string(table), string(key), dbtime.At(parked)
		list = append(list, p)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cascade: list parked rows: %w", err)
	}
	return list, nil
}

// sqlLookParked reads by primary keys whose row it is and where its job is. It decides
// nothing: what follows is conditional.
const sqlLookParked = `SELECT p.job_id, o.id IS NOT NULL FROM onerow_parked AS p LEFT JOIN onerow_job AS o ON o.id = p.job_id WHERE p.id = ?`

// sqlLookParkedCurrent asks for a row that the snapshot of a caller's transaction does not show: it may have
// been parked since. It locks the row exclusively, as what follows does.
const sqlLookParkedCurrent = `SELECT job_id, 0 FROM onerow_parked WHERE id = ? FOR UPDATE`

// lookParked says whose row it is, and where its job is, as far as is seen.
func lookParked(ctx context.Context, db onerow.DB, id int64) (jobID int64, open bool, err error) {
	err = onerow.QueryRow(ctx, db, sqlLookParked, []any{id}, &jobID, &open)
	_, ours := db.(*onerow.Tx)
	_, isTx := db.(interface{ Commit() error })
	if errors.Is(err, sql.ErrNoRows) && (ours || isTx) {
		err = onerow.QueryRow(ctx, db, sqlLookParkedCurrent, []any{id}, &jobID, &open)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoParked
	}
	return jobID, open, err
}

// A job's row is locked before its parked rows are changed: by its worker's fence, and
// here. So a job does not end while one of its rows is skipped, and the other way round.
const (
	sqlLockOpen     = `UPDATE onerow_job SET batch_seq = batch_seq + 1 WHERE id = ?`
	sqlLockArchived = `UPDATE onerow_job_archive SET batch_seq = batch_seq + 1 WHERE id = ?`
)

// lockTries: between a look into one table and a look into the other the job may move.
const lockTries = 6

// lockJob locks the job where it is, which is looked for first where it was seen.
func lockJob(ctx context.Context, tx *onerow.Tx, jobID int64, seenOpen bool) (open bool, err error) {
	for try := range lockTries {
		open, query := true, sqlLockOpen
		if seenOpen == (try%2 == 1) {
			open, query = false, sqlLockArchived
		}
		if n, err := onerow.Affected(ctx, tx, query, jobID); n > 0 || err != nil {
			return open, err
		}
	}
	return false, fmt.Errorf("%w: %d", ErrNoJob, jobID)
}

// onParked runs fn in a transaction that holds the job of a parked row, and returns the
// job as it is then.
func onParked(ctx context.Context, db onerow.DB, id int64, what string, fn func(ctx context.Context, tx *onerow.Tx, jobID int64, open bool) error) (Job, error) {
	var job Job
	err := func() error {
		jobID, seenOpen, err := lookParked(ctx, db, id)
		if err != nil {
			return err
		}
		return inSavepoint(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			open, err := lockJob(ctx, tx, jobID, seenOpen)
			if err != nil {
				return err
			}
			if err := fn(ctx, tx, jobID, open); err != nil {
				return err
			}
			job, err = answer(ctx, tx, jobID)
			return err
		})
	}()
	if err != nil {
		return Job{}, fmt.Errorf("cascade: %s parked row %d: %w", what, id, err)
	}
	return job, nil
}

// sqlSkip changes the row by its primary key, under the lock on its job.
const sqlSkip = `UPDATE onerow_parked SET state = 'skipped', version = version + 1 WHERE id = ?`

// sqlSettled: a job with leftovers of which none waits for anybody is done. It reads
// one_row's part of the job, which nobody else changes while the job is locked.
const sqlSettled = `UPDATE onerow_job_archive SET state = 'done', batch_seq = batch_seq + 1
WHERE id = ? AND state = 'leftovers' AND NOT EXISTS (SELECT 1 FROM onerow_parked FORCE INDEX (one_row) WHERE job_id = ? AND state = 'parked')`

// SkipParked decides that a parked row stays, and with it what is above it; nobody is reminded of it any
// more. These rows have their assets, unless they came to be held in the moment between the deletion of the
// asset and of the row. What was below them may be gone, and references to them that were to be detached may
// be NULL. A job with leftovers becomes done with the last of them, one that still runs ends as done. To skip
// what is skipped is a success. Errors: [ErrNoParked]. It returns the row's job.
//
// Four statements for an open job, 5 for a finished one (1 more with an actor, and 1 or more when the job
// moves meanwhile, or the caller's snapshot does not show the row), of which all but the first are in a
// transaction of its own on a pool. Calling it again is safe, also after [onerow.ErrOutcomeUnknown].
func SkipParked(ctx context.Context, db onerow.DB, id int64) (Job, error) {
	return onParked(ctx, db, id, "skip", func(ctx context.Context, tx *onerow.Tx, jobID int64, open bool) error {
		if err := actOnRow(ctx, tx, ActionSkipRow, id, false); err != nil {
			return err
		}
		n, err := onerow.Affected(ctx, tx, sqlSkip, id)
		switch {
		case err != nil:
			return err
		case n == 0:
			return ErrNoParked
		case open:
			return nil
		}
		_, err = tx.ExecContext(ctx, sqlSettled, jobID, jobID)
		return err
	})
}

// sqlUnpark deletes by the primary key, under the lock on the row's job.
const sqlUnpark = `DELETE p FROM onerow_parked AS p WHERE p.id = ?`

// RetryParked has a parked or skipped row tried again. A job that has ended is reopened,
// as by [Retry]: the same id, no failures, due at once; the other rows that it parked stay
// parked. Errors: [ErrNoParked], so also when an earlier call has done it; [ErrOpenJob]
// when the root row was deleted again since and that job is open. It returns the row's job.
//
// Four statements for an open job, 6 for a finished one (1 more with an actor, and 1 or more when the job
// moves meanwhile, or the caller's snapshot does not show the row), of which all but the first are in a
// transaction of its own on a pool.
// Calling it again is safe, also after [onerow.ErrOutcomeUnknown].
func RetryParked(ctx context.Context, db onerow.DB, id int64) (Job, error) {
	return onParked(ctx, db, id, "retry", func(ctx context.Context, tx *onerow.Tx, jobID int64, open bool) error {
		if err := actOnRow(ctx, tx, ActionRetryRow, id, true); err != nil {
			return err
		}
		n, err := onerow.Affected(ctx, tx, sqlUnpark, id)
		switch {
		case err != nil:
			return err
		case n == 0:
			return ErrNoParked
		case open:
			return nil
		}
		return reopen(ctx, tx, jobID, sqlUnarchive)
	})
}
