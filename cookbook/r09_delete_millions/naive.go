// Package r09 is recipe 9: millions of rows are deleted beside users, with the row above them.
//
// Open this package when that recipe changes.
package r09

import (
	"context"
	"database/sql"
	"errors"
)

// ErrGone says that the account is not there.
var ErrGone = errors.New("there is no such account")

// batch is small here, to keep schedules short. Use some hundreds.
const batch = 2

// Naive deletes the account's events, a few at a time, and then the account.
func Naive(ctx context.Context, db *sql.DB) error {
	for {
		res, err := db.ExecContext(ctx, "DELETE FROM event WHERE account_id = 7 LIMIT ?", batch)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil {
			return err
		} else if n < batch {
			break
		}
	}
	_, err := db.ExecContext(ctx, "DELETE FROM account WHERE id = 7")
	return err
}

// NaiveAdd is what a user's phone does meanwhile.
func NaiveAdd(ctx context.Context, db *sql.DB) error {
	return add(ctx, db, "INSERT INTO event (account_id) SELECT id FROM account WHERE id = 7")
}

func add(ctx context.Context, db *sql.DB, insert string) error {
	res, err := db.ExecContext(ctx, insert)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(ErrGone, err)
	}
	return nil
}
