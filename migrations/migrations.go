package migrations

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/migrations/ddl"
)

// TableName is the table in which goose remembers the toolkit's migrations.
const TableName = "onerow_goose_version"

// FS holds the migrations: NNNNN_topic.sql.
var FS = ddl.FS

// New returns goose's provider for an application's own migrations, which are in files as NNNNN_topic.sql and
// are remembered in a table of their own; with [FS] and [TableName] for the toolkit's, for what [Up], [Down]
// and [Status] do not cover. It sends nothing yet. db stays the caller's; do not call the provider's Close
// unless the pool is to be closed. It keeps what [Up] promises, as long as each statement of theirs is
// safe to repeat: DDL commits by itself. A version table that goose itself has made before has no unique key;
// there the lock alone keeps a version from being recorded twice, which harms nothing. It takes the same lock
// as the toolkit's. What a node of a cluster refuses is an error of its Up; [Apply] runs it again.
func New(db *sql.DB, files fs.FS, table string) (*goose.Provider, error) {
	return provider(db, files, table, sessionLock{})
}

func provider(db *sql.DB, files fs.FS, table string, lock sessionLock) (*goose.Provider, error) {
	s, err := newStore(table)
	if err != nil {
		return nil, err
	}
	opts := []goose.ProviderOption{
		goose.WithStore(s),
		// Go migrations that the application registered with goose are not ours.
		goose.WithDisableGlobalRegistry(true),
	}
	if !lock.off {
		opts = append(opts, goose.WithSessionLocker(lock))
	}
	p, err := goose.NewProvider(goose.DialectCustom, db, files, opts...)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	return p, nil
}

// Up applies every migration that is missing. It may be called twice and from
// several processes at once, on any nodes of a cluster, and it completes what an
// interrupted Up left behind. What a cluster refuses is run again, at most 20 times.
func Up(ctx context.Context, db *sql.DB) error { return Apply(ctx, db, FS, TableName) }

// Down removes all tables of the toolkit and what is in them; goose's version
// table stays. It may be called twice. Nothing of the toolkit may be running.
func Down(ctx context.Context, db *sql.DB) error { return down(ctx, db, FS, TableName) }

// down is [Down] for any migrations: the toolkit has one so far, and the tests prove it of several.
func down(ctx context.Context, db *sql.DB, files fs.FS, table string) error {
	p, err := New(db, files, table)
	if err != nil {
		return err
	}
	if _, err := p.DownTo(ctx, 0); err != nil {
		return fmt.Errorf("migrations: down: %w", inFile(err))
	}
	return nil
}

// Migration is one line of [Status].
type Migration struct {
	// Version is the migration's number, Name its file's name.
	Version int64  `json:"version"`
	Name    string `json:"name"`
	// Applied says whether the database has it, AppliedAt since when, to the second; the zero time if not.
	Applied   bool      `json:"applied"`
	AppliedAt time.Time `json:"applied_at"`
}

// Status returns all migrations in their order and which of them the database
// has. It only reads: one statement, and one more when any was ever applied.
func Status(ctx context.Context, db *sql.DB) ([]Migration, error) {
	return status(ctx, db, FS, TableName)
}

func status(ctx context.Context, db *sql.DB, files fs.FS, table string) ([]Migration, error) {
	p, err := New(db, files, table)
	if err != nil {
		return nil, err
	}
	applied, err := readApplied(ctx, db, table)
	if err != nil {
		return nil, fmt.Errorf("migrations: status: %w", err)
	}
	var all []Migration
	for _, source := range p.ListSources() {
		at, ok := applied[source.Version]
		all = append(all, Migration{Version: source.Version, Name: path.Base(source.Path), Applied: ok, AppliedAt: at})
	}
	return all, nil
}

// The server wrote tstamp by CURRENT_TIMESTAMP in the session's time zone;
// UNIX_TIMESTAMP undoes that, whatever the driver's loc and parseTime.
const sqlApplied = `SELECT version_id, UNIX_TIMESTAMP(tstamp) FROM %s WHERE is_applied`

func readApplied(ctx context.Context, db onerow.DB, table string) (map[int64]time.Time, error) {
	var exists bool
	if err := onerow.QueryRow(ctx, db, sqlTableExists, []any{table}, &exists); err != nil || !exists {
		return nil, err
	}
	applied := map[int64]time.Time{}
	err := onerow.Query(ctx, db, fmt.Sprintf(sqlApplied, ident.Quote(table)), nil, func(rows *sql.Rows) error {
		var version int64
		var at sql.NullInt64
		if err := rows.Scan(&version, &at); err != nil {
			return err
		}
		applied[version] = time.Unix(at.Int64, 0).UTC()
		return nil
	})
	return applied, err
}
