package cascade

import (
	"context"

	"github.com/onerow/onerow"
)

// troubleSQL and calmSQL write by the primary key, in the transaction that has moved the
// job into the archive, or changes it there.
const (
	troubleSQL = `INSERT INTO onerow_job_trouble (job_id, state) VALUES (?, ?) ON DUPLICATE KEY UPDATE state = VALUES(state)`
	calmSQL    = `DELETE FROM onerow_job_trouble WHERE job_id = ?`
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
