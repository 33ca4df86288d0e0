package r24

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Solution takes the job for a while. When that time is over anybody may take it, under the next number.
func Solution(ctx context.Context, db *sql.DB, lease time.Duration) error {
	res, err := db.ExecContext(ctx, "UPDATE job SET state = 'running', token = LAST_INSERT_ID(token + 1), lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND"+
		" WHERE id = 1 AND state <> 'done' AND lease_until < UTC_TIMESTAMP(6)", lease.Microseconds())
	if err != nil {
		return fmt.Errorf("taking the job: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err // another worker has it, or it is done
	}
	token, err := res.LastInsertId()
	if err != nil {
		return fmt.Errorf("taking the job: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	var mine bool
	err = tx.QueryRowContext(ctx, "SELECT token = ? FROM job WHERE id = 1 FOR UPDATE", token).Scan(&mine)
	if err == nil && !mine {
		return tx.Rollback() // taken over: the other one does it
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO report (job_id) VALUES (1)")
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE job SET state = 'done' WHERE id = 1")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the job: %w", err), tx.Rollback())
	}
	return tx.Commit()
}
