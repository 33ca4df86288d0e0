// Package r17 is recipe 17: a limit that two requests cannot pass.
//
// Open this package when that recipe changes.
package r17

import (
	"context"
	"database/sql"
	"errors"
)

// ErrLimit says that the account has as many projects as it may have.
var ErrLimit = errors.New("the plan allows no more projects")

// Naive counts the projects, and makes one more if there is room.
func Naive(ctx context.Context, db *sql.DB, name string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	var room bool
	err = tx.QueryRowContext(ctx, "SELECT COUNT(*) < 1 FROM project WHERE account_id = 7").Scan(&room)
	if err == nil && !room {
		err = ErrLimit
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO project (account_id, name) VALUES (7, ?)", name)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
