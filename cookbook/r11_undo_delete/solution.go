package r11

import (
	"context"
	"database/sql"
)

// Solution deletes the post, and leaves its comments as they are.
func Solution(ctx context.Context, db *sql.DB) error {
	return together(ctx, db, "UPDATE post SET deleted_at = UTC_TIMESTAMP(6) WHERE id = 1 AND deleted_at IS NULL")
}

// SolutionUndo brings back the post, and with it what is to be seen below it.
func SolutionUndo(ctx context.Context, db *sql.DB) error {
	return together(ctx, db, "UPDATE post SET deleted_at = NULL WHERE id = 1")
}

// SolutionComment deletes one comment, whatever has become of its post.
func SolutionComment(ctx context.Context, db *sql.DB) error {
	return together(ctx, db, "UPDATE comment SET deleted_at = UTC_TIMESTAMP(6) WHERE id = 2 AND deleted_at IS NULL")
}
