// Package connect opens the database that an example is told of, as a program outside of this project would.
package connect

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/pool"
)

// EnvDSN names the data source where the command line does not.
const EnvDSN = "ONEROW_DSN"

// ErrNoDSN means that nobody has said where the database is.
var ErrNoDSN = errors.New("there is no database: give one with -dsn user:password@tcp(host:3306)/ or " + EnvDSN +
	"; in onerow's own folder, make demo and make demo DEMO=orders start a server")

// Database is where an example has its tables.
type Database struct {
	// DB is a pool on it.
	DB *sql.DB
	// Name is the database's, Server the server's version and address.
	Name, Server string

	cfg   *mysql.Config
	fresh bool
}

// Open opens a pool on the database that the data source names, or on the one of that name if it names
// none; with fresh always on a new one, which Close drops. It is made if it is missing. dsn may be empty:
// then it is what ONEROW_DSN says.
func Open(ctx context.Context, dsn, name string, fresh bool, conns int) (*Database, error) {
	from := "-dsn"
	if dsn == "" {
		dsn, from = os.Getenv(EnvDSN), EnvDSN
	}
	if dsn == "" {
		return nil, ErrNoDSN
	}
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil { // which does not repeat the name, and the password in it
		return nil, fmt.Errorf("%s is not a data source name like root@tcp(127.0.0.1:3306)/: %w", from, err)
	}
	switch {
	case fresh:
		cfg.DBName = fmt.Sprintf("onerow_%s_%d_%d", name, os.Getpid(), time.Now().Unix())
	case cfg.DBName == "":
		cfg.DBName = name
	}
	cfg.InterpolateParams, cfg.ParseTime = pool.CanInterpolate(cfg), true
	d := &Database{Name: cfg.DBName, cfg: cfg, fresh: fresh}
	if err := d.open(conns); err != nil {
		return nil, err
	}
	if err := d.ready(ctx); err != nil {
		return nil, errors.Join(err, d.DB.Close())
	}
	return d, nil
}

// connLife bounds how long a connection is kept, so that a new server behind the address is found.
const connLife = 10 * time.Minute

func (d *Database) open(conns int) error {
	connector, err := pool.NewConnector(d.cfg)
	if err != nil {
		return err
	}
	d.DB = sql.OpenDB(connector)
	d.DB.SetMaxOpenConns(conns)
	d.DB.SetMaxIdleConns(conns)
	d.DB.SetConnMaxLifetime(connLife)
	return nil
}

// unknownDatabase is the server's error for a database that does not exist.
const unknownDatabase = 1049

// ready makes the database unless it exists: an account that may not create one can still use one.
func (d *Database) ready(ctx context.Context) error {
	err := d.DB.PingContext(ctx)
	var my *mysql.MySQLError
	if errors.As(err, &my) && my.Number == unknownDatabase {
		if err := d.beside(ctx, "CREATE DATABASE IF NOT EXISTS "+d.quoted()+" CHARACTER SET utf8mb4"); err != nil {
			return err
		}
		err = d.DB.PingContext(ctx)
	}
	if err == nil {
		err = d.DB.QueryRowContext(ctx, "SELECT VERSION()").Scan(&d.Server)
	}
	if err != nil {
		return fmt.Errorf("the database %q at %s does not answer: %w", d.Name, d.cfg.Addr, err)
	}
	d.Server += " at " + d.cfg.Addr
	return nil
}

func (d *Database) quoted() string { return "`" + strings.ReplaceAll(d.Name, "`", "``") + "`" }

// beside runs statements on a connection that has no database.
func (d *Database) beside(ctx context.Context, stmts ...string) (err error) {
	cfg := d.cfg.Clone()
	cfg.DBName = ""
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, stmt := range stmts {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("%s: %w", stmt, err)
		}
	}
	return nil
}

// Close closes the pool, and drops the database if it is a fresh one. It waits for at most five seconds for
// transactions that are still open in it.
func (d *Database) Close() error {
	err := d.DB.Close()
	if d.fresh {
		err = errors.Join(err, d.beside(context.Background(), "SET SESSION lock_wait_timeout = 5", "DROP DATABASE IF EXISTS "+d.quoted()))
	}
	return err
}
