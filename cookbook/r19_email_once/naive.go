// Package r19 is recipe 19: the e-mail that goes once.
//
// Open this package when that recipe changes.
package r19

import (
	"context"
	"database/sql"
	"time"
)

// Naive sends the receipt if it was not sent, and notes that it was.
func Naive(ctx context.Context, db *sql.DB, _ time.Duration) error {
	var sent bool
	if err := db.QueryRowContext(ctx, "SELECT sent FROM receipt WHERE order_id = 7").Scan(&sent); err != nil || sent {
		return err
	}
	// The provider. It is a table here, so that one sees what it was sent. It commits by itself, as others
	// do.
	if _, err := db.ExecContext(ctx, "INSERT INTO provider (mail) VALUES ('your receipt')"); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "UPDATE receipt SET sent = 1 WHERE order_id = 7")
	return err
}
