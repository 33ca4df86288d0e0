// Package r22 is recipe 22: the answer to COMMIT was lost.
//
// Open this package when that recipe changes.
package r22

import (
	"context"
	"database/sql"
	"errors"
)

// Naive moves the money in one transaction. Its caller repeats it after any error.
func Naive(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE account SET balance = balance - 30 WHERE id = 1")
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE account SET balance = balance + 30 WHERE id = 2")
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
