// Package r23 is recipe 23: a card is charged through an API that times out.
//
// Open this package when that recipe changes.
package r23

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// ErrMismatch says that the purchase is being paid with another amount.
var ErrMismatch = errors.New("another amount is being charged for this purchase")

// Naive charges the card if the purchase is not paid, and notes it. Its caller tries again after an error.
func Naive(ctx context.Context, db *sql.DB, amount int, _ time.Duration) error {
	var paid bool
	if err := db.QueryRowContext(ctx, "SELECT paid > 0 FROM purchase WHERE id = 7").Scan(&paid); err != nil || paid {
		return err
	}
	// The provider. It is a table here, so that one sees what it was asked. It commits by itself, as others
	// do.
	if _, err := db.ExecContext(ctx, "INSERT INTO provider (amount) VALUES (?)", amount); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "UPDATE purchase SET paid = ? WHERE id = 7", amount)
	return err
}
