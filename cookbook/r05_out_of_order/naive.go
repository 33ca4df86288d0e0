// Package r05 is recipe 5: events that come out of order.
//
// Open this package when that recipe changes.
package r05

import (
	"context"
	"database/sql"
)

// Naive reads when the status was set, and sets it if the event is newer.
func Naive(ctx context.Context, db *sql.DB, status string, at int64) error {
	var known int64
	if err := db.QueryRowContext(ctx, "SELECT status_at FROM purchase WHERE id = 7").Scan(&known); err != nil {
		return err
	}
	if at <= known {
		return nil // old, or seen
	}
	_, err := db.ExecContext(ctx, "UPDATE purchase SET status = ?, status_at = ? WHERE id = 7", status, at)
	return err
}
