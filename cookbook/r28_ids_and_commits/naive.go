// Package r28 is recipe 28: numbers are drawn in another order than they are committed.
//
// Open this package when that recipe changes.
package r28

import (
	"context"
	"database/sql"
	"errors"
)

// Naive writes a message under the next number.
func Naive(ctx context.Context, db *sql.DB, event string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO message (event) VALUES (?)", event); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Read copies to the feed what has come behind the last number that it saw.
func Read(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := copyNew(ctx, tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func copyNew(ctx context.Context, tx *sql.Tx) error {
	var last int64
	if err := tx.QueryRowContext(ctx, "SELECT last_no FROM reader WHERE name = 'feed' FOR UPDATE").Scan(&last); err != nil {
		return err
	}
	for {
		var event string
		err := tx.QueryRowContext(ctx, "SELECT no, event FROM message WHERE no > ? ORDER BY no LIMIT 1", last).Scan(&last, &event)
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT INTO feed (event) VALUES (?)", event)
		}
		if err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "UPDATE reader SET last_no = ? WHERE name = 'feed'", last)
	return err
}
