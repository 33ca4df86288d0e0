package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pressly/goose/v3/database"

	"github.com/onerow/onerow/internal/ident"
)

// store is goose's own store for MySQL, made safe to run twice at each step and
// independent of the driver's parseTime.
type store struct {
	database.Store
	name, table string // table is quoted
}

func newStore(table string) (store, error) {
	s, err := database.NewStore(database.DialectMySQL, ident.Quote(table)) // it writes the name as it is
	if err != nil {
		return store{}, fmt.Errorf("migrations: %w", err)
	}
	return store{s, table, ident.Quote(table)}, nil
}

// The table that goose makes, with two additions: it may exist already, and the
// key on the version decides when two processes record the same migration.
const sqlCreateTable = `CREATE TABLE IF NOT EXISTS %s (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  version_id BIGINT          NOT NULL,
  is_applied BOOLEAN         NOT NULL,
  tstamp     DATETIME        NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (id),
  UNIQUE KEY version_id (version_id)
) ENGINE=InnoDB`

func (s store) CreateVersionTable(ctx context.Context, db database.DBTxConn) error {
	if _, err := db.ExecContext(ctx, fmt.Sprintf(sqlCreateTable, s.table)); err != nil {
		return fmt.Errorf("create the version table %s: %w", s.table, err)
	}
	return nil
}

// IGNORE: another process recorded the same migration just now. The statement
// waits until that one has committed.
const sqlInsertVersion = `INSERT IGNORE INTO %s (version_id, is_applied) VALUES (?, TRUE)`

// Insert records a migration as applied, once.
func (s store) Insert(ctx context.Context, db database.DBTxConn, req database.InsertRequest) error {
	if _, err := db.ExecContext(ctx, fmt.Sprintf(sqlInsertVersion, s.table), req.Version); err != nil {
		return fmt.Errorf("record version %d: %w", req.Version, err)
	}
	return nil
}

const sqlTableExists = `SELECT EXISTS (SELECT 1 FROM information_schema.tables
 WHERE table_schema = DATABASE() AND table_name = ?)`

const sqlHasZero = `SELECT EXISTS (SELECT 1 FROM %s WHERE version_id = 0)`

// TableExists is goose's question whether the version table needs to be made. It is made here, with the row
// for version 0 that goose cannot do without: also when a process ended between the two, which goose would
// not heal. (Goose's own way is to call CreateVersionTable and Insert, and to pause for a second each time
// when they fail.)
func (s store) TableExists(ctx context.Context, db database.DBTxConn) (bool, error) {
	var exists, hasZero bool
	if err := db.QueryRowContext(ctx, sqlTableExists, s.name).Scan(&exists); err != nil {
		return false, fmt.Errorf("look for the version table %s: %w", s.table, err)
	}
	if !exists {
		if err := s.CreateVersionTable(ctx, db); err != nil {
			return false, err
		}
	}
	if err := db.QueryRowContext(ctx, fmt.Sprintf(sqlHasZero, s.table)).Scan(&hasZero); err != nil {
		return false, fmt.Errorf("look into the version table %s: %w", s.table, err)
	}
	if !hasZero {
		if err := s.Insert(ctx, db, database.InsertRequest{Version: 0}); err != nil {
			return false, err
		}
	}
	return true, nil
}

const sqlGetVersion = `SELECT UNIX_TIMESTAMP(tstamp), is_applied FROM %s
 WHERE version_id = ? ORDER BY id DESC LIMIT 1`

// GetMigration returns when a version was applied, to the second.
func (s store) GetMigration(ctx context.Context, db database.DBTxConn, version int64) (*database.GetMigrationResult, error) {
	var at sql.NullInt64
	var applied bool
	err := db.QueryRowContext(ctx, fmt.Sprintf(sqlGetVersion, s.table), version).Scan(&at, &applied)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("%w: %d", database.ErrVersionNotFound, version)
	case err != nil:
		return nil, fmt.Errorf("read version %d: %w", version, err)
	}
	return &database.GetMigrationResult{Timestamp: time.Unix(at.Int64, 0).UTC(), IsApplied: applied}, nil
}
