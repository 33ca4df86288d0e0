package r09

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Solution takes the account away, and leaves a note of what has to follow. Users wait for no more than
// that.
func Solution(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	if _, err = tx.ExecContext(ctx, "INSERT IGNORE INTO deletion (account_id) SELECT id FROM account WHERE id = 7"); err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM account WHERE id = 7")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("deleting the account: %w", err), tx.Rollback())
	}
	return tx.Commit()
}

// Work goes on where it, or another worker, was interrupted.
func Work(ctx context.Context, db *sql.DB) error {
	for {
		res, err := db.ExecContext(ctx, "DELETE FROM event WHERE account_id = 7 LIMIT ?", batch)
		if err != nil {
			return fmt.Errorf("deleting events: %w", err)
		}
		if n, err := res.RowsAffected(); err != nil {
			return fmt.Errorf("deleting events: %w", err)
		} else if n < batch {
			break
		}
	}
	_, err := db.ExecContext(ctx, "DELETE FROM deletion WHERE account_id = 7")
	return err
}

// Add locks the account, shared, until the event is there.
func Add(ctx context.Context, db *sql.DB) error {
	return add(ctx, db, "INSERT INTO event (account_id) SELECT id FROM account WHERE id = 7 LOCK IN SHARE MODE")
}
