package app

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
)

// databaseName is the schema of -serve where the DSN gives none. The stories have one of their own.
const databaseName = "orders"

// How many connections the pool has: each request needs one at a time.
const (
	maxConns = 20
	connLife = 10 * time.Minute
)

// withDatabase finds or starts the server and runs fn with a pool on the example's database. The stories'
// database is new, and dropped afterwards.
func withDatabase(ctx context.Context, c Config, fn func(db *sql.DB) error) (err error) {
	server, name, err := startServer(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	c.Log.Info("database", "engine", server.Engine(), "version", server.Version(), "server", server.Source(), "name", name)
	connector, err := onerow.NewConnector(server.Config(name))
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	db.SetConnMaxLifetime(connLife)
	if err := ready(ctx, server, db, name); err != nil {
		return errors.Join(err, db.Close())
	}
	if !c.Serve {
		defer func() { err = errors.Join(err, server.DropDatabase(context.WithoutCancel(ctx), name)) }()
		if _, err := fmt.Fprintf(c.Out, "On %s %s, in the database %s of its own.\n", server.Engine(), server.Version(), name); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return fn(db)
}

func startServer(ctx context.Context, c Config) (server *devdb.Server, name string, err error) {
	dsn, from := c.DSN, "-dsn"
	if dsn == "" {
		dsn, from = os.Getenv(devdb.EnvDSN), devdb.EnvDSN
	}
	name = databaseName
	if !c.Serve {
		name, c.Data = fmt.Sprintf("onerow_orders_%d_%d", os.Getpid(), time.Now().Unix()), ""
	}
	if dsn == "" {
		c.Log.Info("no -dsn and no " + devdb.EnvDSN + ": looking for a server to start privately")
		server, err = devdb.Start(ctx, devdb.Options{Dir: c.Data, Durable: c.Data != "", Log: c.Log})
		return server, name, err
	}
	server, err = devdb.Use(ctx, dsn, from)
	if err != nil {
		return nil, "", err
	}
	if cfg, perr := mysql.ParseDSN(dsn); perr == nil && cfg.DBName != "" && c.Serve { // Use has parsed it already
		name = cfg.DBName
	}
	return server, name, nil
}

// unknownDatabase is the server's error for a schema that does not exist.
const unknownDatabase = 1049

// ready makes the database unless it exists: an account that may not create one can still use one.
func ready(ctx context.Context, server *devdb.Server, db *sql.DB, name string) error {
	err := db.PingContext(ctx)
	var my *mysql.MySQLError
	if errors.As(err, &my) && my.Number == unknownDatabase {
		if err := server.CreateDatabase(ctx, name); err != nil {
			return err
		}
		err = db.PingContext(ctx)
	}
	if err != nil {
		return fmt.Errorf("the database %q does not answer: %w", name, err)
	}
	return nil
}
