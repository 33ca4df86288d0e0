package connect

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/onerow/onerow/migrations"
)

// Create gives a database the toolkit's tables and an example's.
func Create(ctx context.Context, db *sql.DB, tables []string) error {
	if err := migrations.Up(ctx, db); err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := db.ExecContext(ctx, table); err != nil {
			return fmt.Errorf("make the example's tables: %w", err)
		}
	}
	return nil
}

// Migrate applies the toolkit's migrations and then an example's, of the folder migrations in files, whose
// version goose remembers in a table of its own. It may be called twice, from several processes, and again
// after it was interrupted: each statement of it can run twice.
func Migrate(ctx context.Context, db *sql.DB, files fs.FS, versionTable string) error {
	if err := migrations.Up(ctx, db); err != nil {
		return err
	}
	folder, err := fs.Sub(files, "migrations")
	if err == nil {
		err = migrations.Apply(ctx, db, folder, versionTable)
	}
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}
