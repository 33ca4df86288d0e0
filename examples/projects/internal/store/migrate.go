package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"

	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/schema/live"
)

// VersionTable is where goose remembers the application's own migrations, beside
// the toolkit's.
const VersionTable = "projects_goose_version"

// migrationFS has one migration by hand, and one that TestGenerated generates from the plan.
//
//go:embed migrations/*.sql
var migrationFS embed.FS

// Migrate applies the toolkit's migrations and then the application's, and holds
// the result against the plan: what differs is named in the error. It may be
// called twice, from several processes, and again after it was interrupted.
func Migrate(ctx context.Context, db *sql.DB) error {
	if err := connect.Migrate(ctx, db, migrationFS, VersionTable); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return live.Verify(ctx, db, Plan())
}
