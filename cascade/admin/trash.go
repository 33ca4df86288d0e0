package admin

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
)

// Kept is what of a job, or of one table of a job, is in the trash, or was.
type Kept struct {
	JobID int64  `json:"job,omitempty"`
	Table string `json:"table,omitempty"`
	// Rows are deleted rows, References are references that were cut.
	Rows       int64 `json:"rows"`
	References int64 `json:"references"`
	// Stuck of them could not come back at a restore; Why is the error of one of a table's.
	Stuck int64  `json:"stuck,omitempty"`
	Why   string `json:"why,omitempty"`
	// Since and Expires are when the first was kept, and when the first goes.
	Since   time.Time `json:"since,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
}

const keptColumns = `COALESCE(SUM(IF(cut = '', kept_rows, 0)), 0), COALESCE(SUM(IF(cut = '', 0, kept_rows)), 0), COALESCE(SUM(IF(error IS NULL, 0, kept_rows)), 0),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', MIN(kept_at)), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', MIN(expires_at))`

// Both read parts of the primary key: that of the newest jobs, and that of one.
const (
	sqlTrash = `SELECT t.job_id, ` + keptColumns + ` FROM onerow_trash AS t FORCE INDEX (PRIMARY)
  JOIN (SELECT DISTINCT job_id FROM onerow_trash FORCE INDEX (PRIMARY) WHERE kept_rows > 0 ORDER BY job_id DESC LIMIT ?) AS j ON j.job_id = t.job_id
WHERE t.step > 0 AND t.kept_rows > 0 GROUP BY t.job_id ORDER BY t.job_id DESC`
	sqlTrashOf = `SELECT table_name, MAX(error), ` + keptColumns + ` FROM onerow_trash WHERE job_id = ? AND step > 0 AND kept_rows > 0 GROUP BY table_name ORDER BY table_name`
)

// ListTrash returns what is in the trash, job by job, newest first, of limit jobs at most. One statement.
func ListTrash(ctx context.Context, db onerow.DB, limit int) ([]Kept, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("%w: %d jobs at most", queue.ErrInvalid, limit)
	}
	return readAll(ctx, db, "cascade: list the trash", sqlTrash, []any{limit}, func(rows *sql.Rows, k *Kept) error { return k.scan(rows, &k.JobID) })
}

// TrashOf returns what of a job is in the trash, table by table. One statement.
func TrashOf(ctx context.Context, db onerow.DB, jobID int64) ([]Kept, error) {
	return readAll(ctx, db, fmt.Sprintf("cascade: the trash of job %d", jobID), sqlTrashOf, []any{jobID}, func(rows *sql.Rows, k *Kept) error {
		var why sql.NullString
		err := k.scan(rows, &k.Table, &why)
		k.JobID, k.Why = jobID, why.String
		return err
	})
}

// readAll reads a list, of what the error says.
func readAll[T any](ctx context.Context, db onerow.DB, what, query string, args []any, scan func(*sql.Rows, *T) error) ([]T, error) {
	var list []T
	err := onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		var one T
		err := scan(rows, &one)
		list = append(list, one)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return list, nil
}

func (k *Kept) scan(rows *sql.Rows, first ...any) error {
	var since, expires int64
	err := rows.Scan(append(first, &k.Rows, &k.References, &k.Stuck, &since, &expires)...)
	k.Since, k.Expires = time.UnixMicro(since).UTC(), time.UnixMicro(expires).UTC()
	return err
}

// sqlExpire writes the job's part of the primary key.
const sqlExpire = `UPDATE onerow_trash SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 MICROSECOND WHERE job_id = ? AND step > 0 AND expires_at > UTC_TIMESTAMP(6)`

// ExpireTrash has everything go that a job has put into the trash: it does not come back from now on, and
// [PurgeTrash] removes it. It returns how many steps these were. One statement, 2 with an actor.
func ExpireTrash(ctx context.Context, db onerow.DB, jobID int64) (int64, error) {
	var n int64
	err := queue.Noted(ctx, db, func(ctx context.Context, db onerow.DB) (_ queue.Action, err error) {
		if n, err = onerow.Affected(ctx, db, sqlExpire, jobID); err != nil || n == 0 {
			return queue.Action{}, err
		}
		return queue.Action{Action: "expire", JobID: jobID}, nil
	})
	if err != nil {
		return 0, fmt.Errorf("cascade: expire the trash of job %d: %w", jobID, err)
	}
	return n, nil
}

// TrashSize is how much there is in the trash.
type TrashSize struct {
	// Rows are deleted rows, References are references that were cut.
	Rows       int64 `json:"rows"`
	References int64 `json:"references"`
	// Stuck of them could not come back at a restore, and Expired of them wait for [PurgeTrash].
	Stuck   int64 `json:"stuck"`
	Expired int64 `json:"expired"`
	// AtLeast says that there is more: the limit was reached.
	AtLeast bool `json:"at_least,omitempty"`
}

// sqlTrashSize reads the newest entries of the primary key.
const sqlTrashSize = `SELECT COUNT(*), COALESCE(SUM(IF(cut = '', kept_rows, 0)), 0), COALESCE(SUM(IF(cut = '', 0, kept_rows)), 0), COALESCE(SUM(IF(stuck, kept_rows, 0)), 0), COALESCE(SUM(IF(expired, kept_rows, 0)), 0)
FROM (SELECT cut, IF(step > 0, kept_rows, 0) AS kept_rows, error IS NOT NULL AS stuck, expires_at < UTC_TIMESTAMP(6) AS expired FROM onerow_trash FORCE INDEX (PRIMARY) ORDER BY job_id DESC, step DESC LIMIT ?) AS newest`

// ReadTrashSize adds up the newest steps of the trash, limit at most; a step is what one statement has kept,
// up to a batch of rows. One statement.
func ReadTrashSize(ctx context.Context, db onerow.DB, limit int) (s TrashSize, err error) {
	if limit <= 0 {
		return s, fmt.Errorf("%w: %d steps at most", queue.ErrInvalid, limit)
	}
	var steps int64
	if err := onerow.QueryRow(ctx, db, sqlTrashSize, []any{limit}, &steps, &s.Rows, &s.References, &s.Stuck, &s.Expired); err != nil {
		return s, fmt.Errorf("cascade: the size of the trash: %w", err)
	}
	s.AtLeast = steps == int64(limit)
	return s, nil
}
