// Package r01 is recipe 1: insert a row if it is not there.
//
// Open this package when that recipe changes.
package r01

import (
	"context"
	"database/sql"
	"errors"
)

// Naive looks for the account and makes it if there is none, in one transaction.
func Naive(ctx context.Context, db *sql.DB, email string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	var id int64
	err = tx.QueryRowContext(ctx, "SELECT id FROM account WHERE email = ?", email).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		_, err = tx.ExecContext(ctx, "INSERT INTO account (email) VALUES (?)", email)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
