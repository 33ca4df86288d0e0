// Package r21 is recipe 21: a constraint in place of a lock in Redis.
//
// Open this package when that recipe changes.
package r21

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// ErrRunning says that the account has an export that has not ended.
var ErrRunning = errors.New("an export is running")

// Naive looks and begins under a lock, so that nobody begins in between.
func Naive(ctx context.Context, db *sql.DB, user string, ttl time.Duration) error {
	if err := lock(ctx, db, user, ttl); err != nil {
		return err
	}
	var running int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM export WHERE account_id = 7 AND finished_at IS NULL").Scan(&running); err != nil {
		return err
	}
	if running == 0 {
		if _, err := db.ExecContext(ctx, "INSERT INTO export (account_id) VALUES (7)"); err != nil {
			return err
		}
	}
	if err := unlock(ctx, db, user); err != nil {
		return err
	}
	if running > 0 {
		return ErrRunning
	}
	return nil
}

// lock is SET export:7 user NX PX ttl. Redis is a table here, so that a schedule shows what it was asked.
func lock(ctx context.Context, db *sql.DB, user string, ttl time.Duration) error {
	if _, err := db.ExecContext(ctx, "DELETE FROM redis WHERE name = 'export:7' AND expires_at < UTC_TIMESTAMP(6)"); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "INSERT INTO redis (name, value, expires_at) VALUES ('export:7', ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)", user, ttl.Microseconds())
	return err
}

// unlock is the script that everybody copies: delete it if it is mine.
func unlock(ctx context.Context, db *sql.DB, user string) error {
	_, err := db.ExecContext(ctx, "DELETE FROM redis WHERE name = 'export:7' AND value = ?", user)
	return err
}
