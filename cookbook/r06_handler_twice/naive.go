// Package r06 is recipe 6: a queue runs a handler twice.
//
// Open this package when that recipe changes.
package r06

import (
	"context"
	"database/sql"
)

// Naive looks whether the message was processed, works, and notes that it is.
func Naive(ctx context.Context, db *sql.DB, message string) error {
	var seen int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM processed WHERE message_id = ?", message).Scan(&seen); err != nil || seen > 0 {
		return err
	}
	if _, err := db.ExecContext(ctx, "UPDATE customer SET points = points + 10 WHERE id = 7"); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "INSERT IGNORE INTO processed (message_id) VALUES (?)", message)
	return err
}
