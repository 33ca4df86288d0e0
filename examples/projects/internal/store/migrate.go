package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// VersionTable is where goose remembers the application's own migrations, beside
// the toolkit's.
const VersionTable = "projects_goose_version"

// migrationFS has one migration by hand, and one that is generated from the plan
// (see migrationText) and compared with it in a test.
//
//go:embed migrations/*.sql
var migrationFS embed.FS

// Migrate applies the toolkit's migrations and then the application's, and holds
// the result against the plan: what differs is named in the error. It may be
// called twice, from several processes, and again after it was interrupted.
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
	return live.Verify(ctx, db, Plan())
}

// migrationText is migrations/00002_resources.sql: the plan's tables. DDL commits
// by itself, so each statement must be able to run twice.
func migrationText() string {
	var up, down strings.Builder
	for _, stmt := range Plan().DDL() {
		up.WriteString(strings.Replace(stmt, "CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ", 1) + ";\n\n")
	}
	for _, r := range Plan().Resources {
		for _, table := range r.Tables() {
			down.WriteString("DROP TABLE IF EXISTS " + schema.Quote(table) + ";\n")
		}
	}
	return "-- +goose NO TRANSACTION\n-- +goose Up\n-- Generated from the plan in plan.go: go test -C examples ./projects/internal/store -run TestGenerated -update\n" +
		up.String() + "-- +goose Down\n" + down.String()
}
