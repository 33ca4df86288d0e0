package r19

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Solution sends the receipt under a key, by which the provider knows what it has sent already.
func Solution(ctx context.Context, db *sql.DB, _ time.Duration) error {
	var sent bool
	if err := db.QueryRowContext(ctx, "SELECT sent FROM receipt WHERE order_id = 7").Scan(&sent); err != nil || sent {
		return err
	}
	if err := send(ctx, db, "receipt/7"); err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	_, err := db.ExecContext(ctx, "UPDATE receipt SET sent = 1 WHERE order_id = 7")
	return err
}

// send is the provider. What comes again under a key it answers with success, and does not send.
func send(ctx context.Context, db *sql.DB, key string) error {
	_, err := db.ExecContext(ctx, "INSERT INTO provider (idempotency_key, mail) VALUES (?, 'your receipt') ON DUPLICATE KEY UPDATE mail = mail", key)
	return err
}
