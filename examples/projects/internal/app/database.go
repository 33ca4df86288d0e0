package app

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
)

// databaseName is the schema's name where the DSN gives none.
const databaseName = "projects"

// How many connections the pool has: each request needs one at a time, the worker
// and the two sweeps have one each.
const (
	maxConns = 40
	connLife = 10 * time.Minute
)

// openDatabase finds or starts the server and returns a pool on the application's
// database, which is made if it is missing. close ends both.
func openDatabase(ctx context.Context, c Config) (db *sql.DB, closeAll func() error, err error) {
	server, name, err := startServer(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	c.Log.Info("database", "engine", server.Engine(), "version", server.Version(), "server", server.Source(), "name", name)
	connector, err := onerow.NewConnector(server.Config(name))
	if err != nil {
		return nil, nil, errors.Join(err, server.Close())
	}
	db = sql.OpenDB(connector)
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	db.SetConnMaxLifetime(connLife)
	closeAll = func() error { return errors.Join(db.Close(), server.Close()) }
	if err := ready(ctx, server, db, name); err != nil {
		return nil, nil, errors.Join(err, closeAll())
	}
	return db, closeAll, nil
}

func startServer(ctx context.Context, c Config) (server *devdb.Server, name string, err error) {
	dsn, from := c.DSN, "-dsn"
	if dsn == "" {
		dsn, from = os.Getenv(devdb.EnvDSN), devdb.EnvDSN
	}
	if dsn == "" {
		c.Log.Info("no -dsn and no " + devdb.EnvDSN + ": looking for a server to start privately")
		server, err = devdb.Start(ctx, devdb.Options{Dir: filepath.Join(c.Data, "server"), Durable: true, Log: c.Log})
		return server, databaseName, err
	}
	server, err = devdb.Use(ctx, dsn, from)
	if err != nil {
		return nil, "", err
	}
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil || cfg.DBName == "" {
		return server, databaseName, nil //nolint:nilerr // Use has parsed it already
	}
	return server, cfg.DBName, nil
}

// unknownDatabase is the server's error for a schema that does not exist.
const unknownDatabase = 1049

// ready makes the database unless it exists: an account that may not create one
// can still use one.
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
