package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/onerow/onerow/migrations"
)

// VersionTable is where goose remembers the example's own migrations, beside the toolkit's.
const VersionTable = "orders_goose_version"

//go:embed migrations/*.sql
var migrationFS embed.FS

// Migrate applies the toolkit's migrations and then the example's. It may be called twice, from
// several processes, and again after it was interrupted: each statement of it can run twice.
func Migrate(ctx context.Context, db *sql.DB) error {
	if err := migrations.Up(ctx, db); err != nil {
		return err
	}
	files, err := fs.Sub(migrationFS, "migrations")
	if err != nil {
		return err
	}
	if err := migrations.Apply(ctx, db, files, VersionTable); err != nil {
		return fmt.Errorf("store: migrate: %w", err)
	}
	return nil
}
