package r31

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Solution locks the project before it copies it. If it is not there, it was moved before, or never
// existed.
func Solution(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	var id int64
	err = tx.QueryRowContext(ctx, "SELECT id FROM project WHERE id = 1 FOR UPDATE").Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return tx.Rollback()
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO project_archive (id, title, version) SELECT id, title, version FROM project WHERE id = 1")
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM project WHERE id = 1")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("archiving: %w", err), tx.Rollback())
	}
	return tx.Commit()
}
