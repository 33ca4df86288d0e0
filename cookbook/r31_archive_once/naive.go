// Package r31 is recipe 31: a row moves to another table once, and nothing that was written is lost.
//
// Open this package when that recipe changes.
package r31

import (
	"context"
	"database/sql"
	"errors"
)

// ErrArchived says that the project is not active.
var ErrArchived = errors.New("the project is archived")

// Naive copies the project to the archive, and deletes it, in one transaction.
func Naive(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO project_archive (id, title, version) SELECT id, title, version FROM project WHERE id = 1")
	if err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM project WHERE id = 1")
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Rename is what another user does meanwhile.
func Rename(ctx context.Context, db *sql.DB) error {
	res, err := db.ExecContext(ctx, "UPDATE project SET title = 'New', version = version + 1 WHERE id = 1")
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		return ErrArchived
	}
	return err
}
