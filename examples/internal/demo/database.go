package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
)

// maxConns is how many deliveries can be in transactions at once.
const maxConns = 16

// Database is where a run has its tables.
type Database struct {
	// DB is a pool on it.
	DB  *sql.DB
	cfg *mysql.Config
}

// Open connects to a database that is there and gives it the toolkit's tables.
func Open(ctx context.Context, cfg *mysql.Config) (*Database, error) {
	connector, err := pool.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	d := &Database{DB: sql.OpenDB(connector), cfg: cfg}
	d.DB.SetMaxOpenConns(maxConns)
	d.DB.SetMaxIdleConns(maxConns)
	if err := migrations.Up(ctx, d.DB); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close closes the pool.
func (d *Database) Close() error { return d.DB.Close() }

// Create makes the example's own tables.
func (d *Database) Create(ctx context.Context, tables []string) error {
	for _, table := range tables {
		if _, err := d.DB.ExecContext(ctx, table); err != nil {
			return fmt.Errorf("make the example's tables: %w", err)
		}
	}
	return nil
}

// withDatabase calls play with a new database on the server that dsn or ONEROW_DSN names. Afterwards, also
// after a signal, it is dropped.
func withDatabase(ctx context.Context, dsn, name string, log *slog.Logger, play func(ctx context.Context, d *Database) error) (err error) {
	fresh, err := connect.Open(ctx, dsn, name, true, maxConns)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fresh.Close()) }()
	log.Info("database", "server", fresh.Server, "name", fresh.Name)
	if err := migrations.Up(ctx, fresh.DB); err != nil {
		return err
	}
	return play(ctx, &Database{DB: fresh.DB, cfg: fresh.Config()})
}
