package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/migrations"
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
	connector, err := onerow.NewConnector(cfg)
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

// withDatabase starts a server, or uses the one that ONEROW_DSN names, and calls play
// with a fresh database on it. Afterwards the database is removed and the server, if
// it was started here, stopped.
func withDatabase(ctx context.Context, name string, log *slog.Logger, play func(ctx context.Context, d *Database) error) (err error) {
	server, err := devdb.Start(ctx, devdb.Options{Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	schema := fmt.Sprintf("onerow_%s_%d", name, os.Getpid())
	log.Info("database", "engine", server.Engine(), "version", server.Version(), "server", server.Source(), "name", schema)
	if err := server.CreateDatabase(ctx, schema); err != nil {
		return err
	}
	// After a signal, too.
	defer func() { err = errors.Join(err, server.DropDatabase(context.WithoutCancel(ctx), schema)) }()
	d, err := Open(ctx, server.Config(schema))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return play(ctx, d)
}
