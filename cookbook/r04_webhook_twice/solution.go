package r04

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution marks the event and does its work in one commit, and does no work that is older than what is
// there.
func Solution(ctx context.Context, db *sql.DB, e Event) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO seen_event (event_id) VALUES (?)", e.ID)
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return tx.Rollback() // a second delivery
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE purchase SET status = ?, status_at = ? WHERE id = ? AND status_at < ?", e.Status, e.At, e.Order, e.At)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("event %s: %w", e.ID, err), tx.Rollback())
	}
	return tx.Commit()
}
