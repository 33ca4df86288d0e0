package r23

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Solution writes down what it is about to charge, charges it under a key, and writes down that it has.
func Solution(ctx context.Context, db *sql.DB, amount int, _ time.Duration) error {
	if _, err := db.ExecContext(ctx, "INSERT IGNORE INTO charge (purchase_id, amount, state) VALUES (7, ?, 'begun')", amount); err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	var begun int
	var state string
	if err := db.QueryRowContext(ctx, "SELECT amount, state FROM charge WHERE purchase_id = 7").Scan(&begun, &state); err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	switch {
	case begun != amount:
		return ErrMismatch
	case state == "done":
		return nil
	}
	if err := charge(ctx, db, "purchase/7", amount); err != nil {
		return fmt.Errorf("charging: %w", err) // perhaps charged: call again
	}
	return settle(ctx, db, amount)
}

// settle writes both in one commit.
func settle(ctx context.Context, db *sql.DB, amount int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("settling: %w", err)
	}
	_, err = tx.ExecContext(ctx, "UPDATE charge SET state = 'done' WHERE purchase_id = 7")
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE purchase SET paid = ? WHERE id = 7", amount)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("settling: %w", err), tx.Rollback())
	}
	return tx.Commit()
}

// charge is the provider. What comes again under a key it answers as before, and does not charge.
func charge(ctx context.Context, db *sql.DB, key string, amount int) error {
	_, err := db.ExecContext(ctx, "INSERT INTO provider (idempotency_key, amount) VALUES (?, ?) ON DUPLICATE KEY UPDATE amount = provider.amount", key, amount)
	return err
}
