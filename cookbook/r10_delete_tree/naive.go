// Package r10 is recipe 10: a tree is deleted, all of it, and the deletion can be resumed.
//
// Open this package when that recipe changes.
package r10

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// Naive deletes the folder, then what is in it, level by level.
func Naive(ctx context.Context, db *sql.DB) error {
	for level := []any{1}; len(level) > 0; {
		below, err := children(ctx, db, level)
		if err != nil {
			return err
		}
		if err := remove(ctx, db, level); err != nil {
			return err
		}
		level = below
	}
	return nil
}

func children(ctx context.Context, db *sql.DB, parents []any) (ids []any, err error) {
	rows, err := db.QueryContext(ctx, "SELECT id FROM folder WHERE parent_id IN ("+marks(parents)+") ORDER BY id", parents...)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var id int64
		err = errors.Join(err, rows.Scan(&id))
		ids = append(ids, id)
	}
	return ids, errors.Join(err, rows.Err(), rows.Close())
}

func remove(ctx context.Context, db *sql.DB, ids []any) error {
	_, err := db.ExecContext(ctx, "DELETE FROM folder WHERE id IN ("+marks(ids)+")", ids...)
	return err
}

func marks(values []any) string { return strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ") }
