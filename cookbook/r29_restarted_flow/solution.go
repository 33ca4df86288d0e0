package r29

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Solution locks the cart's row, sees that its run is still the newest, and only then reads and writes.
func Solution(ctx context.Context, db *sql.DB, run string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	var newest bool
	var total int
	err = tx.QueryRowContext(ctx, "SELECT run = ? FROM cart WHERE id = 1 FOR UPDATE", run).Scan(&newest)
	if err == nil && !newest {
		err = ErrReplaced
	}
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT SUM(price) FROM item WHERE cart_id = 1").Scan(&total)
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE cart SET total = ? WHERE id = 1", total)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("adding up: %w", err), tx.Rollback())
	}
	return tx.Commit()
}
