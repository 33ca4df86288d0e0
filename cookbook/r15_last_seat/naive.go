// Package r15 is recipe 15: the last seat is sold once.
//
// Open this package when that recipe changes.
package r15

import (
	"context"
	"database/sql"
	"errors"
)

// ErrSoldOut says that there is no seat.
var ErrSoldOut = errors.New("sold out")

// Naive looks whether there is a seat, and takes it.
func Naive(ctx context.Context, db *sql.DB, request string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	var free int
	err = tx.QueryRowContext(ctx, "SELECT free FROM event WHERE id = 1").Scan(&free)
	if err == nil && free < 1 {
		err = ErrSoldOut
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE event SET free = free - 1 WHERE id = 1")
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO booking (request_id, event_id) VALUES (?, 1)", request)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
