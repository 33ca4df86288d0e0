// Package r04 is recipe 4: a webhook that comes twice.
//
// Open this package when that recipe changes.
package r04

import (
	"context"
	"database/sql"
)

// Event is what the provider sends: at least once, and in any order.
type Event struct {
	ID     string
	Order  int64
	Status string
	At     int64 // when it happened, in microseconds, by the provider's clock
}

// Naive marks the event as seen, then does the work.
func Naive(ctx context.Context, db *sql.DB, e Event) error {
	res, err := db.ExecContext(ctx, "INSERT IGNORE INTO seen_event (event_id) VALUES (?)", e.ID)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err // seen
	}
	_, err = db.ExecContext(ctx, "UPDATE purchase SET status = ?, status_at = ? WHERE id = ?", e.Status, e.At, e.Order)
	return err
}
