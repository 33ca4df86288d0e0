package queue

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/onerow/onerow"
)

// sqlPlan reads, and sqlStorePlan writes, by the primary key.
const (
	sqlPlan      = `SELECT fingerprint FROM onerow_job_plan WHERE job_id = ?`
	sqlStorePlan = `INSERT INTO onerow_job_plan (job_id, fingerprint, stored_at) VALUES `
	sqlOnePlan   = `(?, ?, UTC_TIMESTAMP(6))`
	sqlPlanAgain = ` ON DUPLICATE KEY UPDATE stored_at = VALUES(stored_at)`
)

// PlanOf is the fingerprint of the plan under which a job was begun; "" if it was not. One statement.
func PlanOf(ctx context.Context, db onerow.DB, jobID int64) (fingerprint string, err error) {
	var begun []byte
	if err = onerow.QueryRow(ctx, db, sqlPlan, []any{jobID}, &begun); errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return string(begun), err
}

// StorePlan notes, with jobs whose leases this transaction holds, the plan under which they are begun. One
// statement.
func StorePlan(ctx context.Context, tx *onerow.Tx, fingerprint string, jobs ...int64) error {
	var rows []string
	var args []any
	for _, id := range jobs {
		rows, args = append(rows, sqlOnePlan), append(args, id, []byte(fingerprint))
	}
	_, err := tx.ExecContext(ctx, sqlStorePlan+strings.Join(rows, ", ")+sqlPlanAgain, args...)
	return err
}
