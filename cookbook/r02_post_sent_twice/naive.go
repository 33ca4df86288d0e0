// Package r02 is recipes 2 and 3: a POST that is sent twice, perhaps at the same moment.
//
// Open this package when that recipe changes.
package r02

import (
	"context"
	"database/sql"
	"errors"
)

// Naive looks whether the key was seen, does the work, then notes the key.
func Naive(ctx context.Context, db *sql.DB, key string, amount int) (payment int64, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, "SELECT payment_id FROM seen WHERE idempotency_key = ?", key).Scan(&payment)
	if err == nil {
		return payment, tx.Commit()
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return 0, errors.Join(err, tx.Rollback())
	}
	res, err := tx.ExecContext(ctx, "INSERT INTO payment (amount) VALUES (?)", amount)
	if err == nil {
		payment, err = res.LastInsertId()
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO seen (idempotency_key, payment_id) VALUES (?, ?)", key, payment)
	}
	if err != nil {
		return 0, errors.Join(err, tx.Rollback())
	}
	return payment, tx.Commit()
}
