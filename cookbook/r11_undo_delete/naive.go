// Package r11 is recipe 11: a delete is undone, and brings back only what went with it.
//
// Open this package when that recipe changes.
package r11

import (
	"context"
	"database/sql"
	"errors"
)

// Naive deletes the post and its comments, and notes when.
func Naive(ctx context.Context, db *sql.DB) error {
	return together(ctx, db,
		"UPDATE post SET deleted_at = UTC_TIMESTAMP(6) WHERE id = 1 AND deleted_at IS NULL",
		"UPDATE comment SET deleted_at = (SELECT deleted_at FROM post WHERE id = 1) WHERE post_id = 1 AND deleted_at IS NULL")
}

// NaiveUndo brings back what was deleted at the moment when the post was.
func NaiveUndo(ctx context.Context, db *sql.DB) error {
	return together(ctx, db,
		"UPDATE comment SET deleted_at = NULL WHERE post_id = 1 AND deleted_at = (SELECT deleted_at FROM post WHERE id = 1)",
		"UPDATE post SET deleted_at = NULL WHERE id = 1")
}

// NaiveComment deletes one comment, once.
func NaiveComment(ctx context.Context, db *sql.DB) error {
	return together(ctx, db, "UPDATE comment SET deleted_at = UTC_TIMESTAMP(6) WHERE id = 2 AND deleted_at IS NULL")
}

// together sends statements in one transaction.
func together(ctx context.Context, db *sql.DB, statements ...string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}
