package r05

import (
	"context"
	"database/sql"
)

// Solution sets the status if the event is newer, in one statement. If no row is changed, it is old, or seen.
func Solution(ctx context.Context, db *sql.DB, status string, at int64) error {
	_, err := db.ExecContext(ctx, "UPDATE purchase SET status = ?, status_at = ? WHERE id = 7 AND status_at < ?", status, at, at)
	return err
}
