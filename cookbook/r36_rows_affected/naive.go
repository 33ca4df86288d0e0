// Package r36 is recipe 36: an UPDATE affects 0 rows, because nothing is there or because nothing changed.
//
// Open this package when that recipe changes.
package r36

import (
	"context"
	"database/sql"
	"errors"
)

// ErrNotFound says that there is no such order.
var ErrNotFound = errors.New("no such order")

// Naive takes 0 rows for an order that is not there.
func Naive(ctx context.Context, db *sql.DB, order int64, address string) error {
	res, err := db.ExecContext(ctx, "UPDATE purchase SET address = ? WHERE id = ?", address, order)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}
