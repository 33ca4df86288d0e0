// Package r14 is recipe 14: invoice numbers without gaps.
//
// Open this package when that recipe changes.
package r14

import (
	"context"
	"database/sql"
	"errors"
)

// Naive takes the highest number and adds one.
func Naive(ctx context.Context, db *sql.DB, order int64) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	var last int64
	if err := tx.QueryRowContext(ctx, "SELECT COALESCE(MAX(no), 0) FROM invoice").Scan(&last); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO invoice (order_id, no) VALUES (?, ?)", order, last+1); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
