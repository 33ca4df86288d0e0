// Package r32 is recipe 32: a counter that does not drift from what it counts.
//
// Open this package when that recipe changes.
package r32

import (
	"context"
	"database/sql"
	"errors"
)

// Naive notes the like, and counts anew "so that the counter cannot drift".
func Naive(ctx context.Context, db *sql.DB, user int64) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	var likes int
	_, err = tx.ExecContext(ctx, "INSERT INTO liked (post_id, user_id) VALUES (1, ?)", user)
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM liked WHERE post_id = 1").Scan(&likes)
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE post SET likes = ? WHERE id = 1", likes)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
