package cascade

import (
	"context"
	"database/sql"
	"time"

	"github.com/onerow/onerow"
)

// troubleSQL and calmSQL write by the primary key, in the transaction that has moved the
// job into the archive, or changes it there.
const (
	troubleSQL = `INSERT INTO onerow_job_trouble (job_id, state) VALUES (?, ?) ON DUPLICATE KEY UPDATE state = VALUES(state)`
	calmSQL    = `DELETE t FROM onerow_job_trouble AS t WHERE t.job_id = ?`
)

// noteTrouble goes with a job into the archive: dead jobs and leftovers are listed in a
// table of their own, so that they can be counted. One statement, none for other states.
func noteTrouble(ctx context.Context, tx *onerow.Tx, jobID int64, state State) error {
	if state != Dead && state != Leftovers {
		return nil
	}
	_, err := tx.ExecContext(ctx, troubleSQL, jobID, []byte(state))
	return err
}

// missedSQL reads the end of the archive's index finished_at, with the rows, and the other
// table by its primary key; it locks nothing. healSQL decides, on the job's row, which it
// locks by the primary key: so nobody retries or settles the job meanwhile.
const (
	missedSQL = `SELECT a.id FROM onerow_job_archive AS a FORCE INDEX (finished_at) LEFT JOIN onerow_job_trouble AS t ON t.job_id = a.id
WHERE a.finished_at > UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND a.state IN ('dead', 'leftovers') AND t.job_id IS NULL LIMIT 100`
	healSQL = `INSERT INTO onerow_job_trouble (job_id, state)
SELECT id, state FROM onerow_job_archive WHERE id = ? AND state IN ('dead', 'leftovers') LOCK IN SHARE MODE
ON DUPLICATE KEY UPDATE state = VALUES(state)`
)

// healTrouble lists the dead jobs and leftovers of late that are not listed: a worker of a
// version before the list puts jobs into the archive without it. One statement, and 1 for each.
func healTrouble(ctx context.Context, db onerow.DB, since time.Duration) error {
	var ids []int64
	err := onerow.Query(ctx, db, missedSQL, []any{since.Microseconds()}, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	for i := 0; err == nil && i < len(ids); i++ {
		_, err = db.ExecContext(ctx, healSQL, ids[i])
	}
	return err
}
