package r36

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Solution locks the order, which says whether it is there. What the UPDATE then changes does not matter.
func Solution(ctx context.Context, db *sql.DB, order int64, address string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	err = tx.QueryRowContext(ctx, "SELECT id FROM purchase WHERE id = ? FOR UPDATE", order).Scan(&order)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE purchase SET address = ? WHERE id = ?", address, order)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
