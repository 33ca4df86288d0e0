package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	"github.com/onerow/onerow/migrations"
)

// VersionTable is where goose remembers the example's own migrations, beside the toolkit's.
const VersionTable = "orders_goose_version"

//go:embed migrations/*.sql
var migrationFS embed.FS

// sqlLockMigrations makes processes that start at once take turns. The name is the database's own;
// the lock ends with its session.
const (
	sqlLockMigrations   = `SELECT COALESCE(GET_LOCK(CONCAT('orders.', LEFT(SHA2(DATABASE(), 256), 40)), 60), 0)`
	sqlUnlockMigrations = `SELECT RELEASE_LOCK(CONCAT('orders.', LEFT(SHA2(DATABASE(), 256), 40)))`
)

// Migrate applies the toolkit's migrations and then the example's. It may be called twice, from
// several processes, and again after it was interrupted: each statement of it can run twice.
func Migrate(ctx context.Context, db *sql.DB) error {
	if err := migrations.Up(ctx, db); err != nil {
		return err
	}
	if err := migrate(ctx, db); err != nil {
		return fmt.Errorf("store: migrate: %w", err)
	}
	return nil
}

func migrate(ctx context.Context, db *sql.DB) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var locked, unlocked sql.NullInt64
	if err := conn.QueryRowContext(ctx, sqlLockMigrations).Scan(&locked); err != nil {
		return err
	}
	if locked.Int64 != 1 {
		return errors.New("another process has been migrating this database for a minute")
	}
	defer func() {
		err = errors.Join(err, conn.QueryRowContext(context.WithoutCancel(ctx), sqlUnlockMigrations).Scan(&unlocked))
	}()
	files, err := fs.Sub(migrationFS, "migrations")
	if err != nil {
		return err
	}
	standard, err := database.NewStore(database.DialectMySQL, VersionTable)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectCustom, db, files, goose.WithStore(versions{standard}), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// versions is goose's own store, made safe against a process that ends between making the version
// table and writing its first row.
type versions struct{ database.Store }

const sqlCreateVersions = `CREATE TABLE IF NOT EXISTS ` + VersionTable + ` (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  version_id BIGINT          NOT NULL,
  is_applied BOOLEAN         NOT NULL,
  tstamp     DATETIME        NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (id)
) ENGINE=InnoDB`

// CreateVersionTable is called by goose when TableExists says no.
func (versions) CreateVersionTable(ctx context.Context, db database.DBTxConn) error {
	_, err := db.ExecContext(ctx, sqlCreateVersions)
	return err
}

const (
	sqlHasVersions = `SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '` + VersionTable + `'`
	sqlHasZero     = `SELECT COUNT(*) FROM ` + VersionTable + ` WHERE version_id = 0`
)

// TableExists answers no also for a table without goose's first row.
func (versions) TableExists(ctx context.Context, db database.DBTxConn) (bool, error) {
	for _, query := range []string{sqlHasVersions, sqlHasZero} {
		var n int
		if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil || n == 0 {
			return false, err
		}
	}
	return true, nil
}
