package devdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Names of the environment variables that choose the server.
const (
	EnvDSN    = "ONEROW_DSN"    // data source name of a running server, in go-sql-driver's form
	EnvMysqld = "ONEROW_MYSQLD" // path or name of the server program to start

	// EnvImage names the image of a server for make test-docker, see package container.
	EnvImage = "ONEROW_TEST_IMAGE"
)

// Names of the environment variables with which proof/settings puts all tests under a setting.
const (
	// EnvParams are parameters for every data source name of package dbtest, as in
	// "charset=latin1&autocommit=1". They win over the isolation level that a test asks for, and a test's own
	// parameters win over them.
	EnvParams = "ONEROW_TEST_PARAMS"
	// EnvSchema is what a schema of package dbtest is altered to, as in "CHARACTER SET utf8mb3".
	EnvSchema = "ONEROW_TEST_SCHEMA"
)

// Names of the two engines, as [Server.Engine] answers.
const (
	MariaDB = "MariaDB"
	MySQL   = "MySQL"
)

// Options of [Start]. The zero value is a throw-away server with durability off, which is what tests want.
type Options struct {
	// Private wants a server of its own, whatever [EnvDSN] says.
	Private bool
	// Dir is the folder that a private server keeps between runs; it is made if missing. Empty: a throw-away
	// folder in the system's temp folder, removed by Close.
	Dir string
	// Durable keeps the engine's durable defaults. False switches flushing off: faster, and safe against a
	// killed process, not against a crash of the machine.
	Durable bool
	// Env are environment variables, as in "NAME=value", for the server beside this process's own.
	Env []string
	// Args are further flags for a private server, behind those of this package, so they win.
	Args []string
	// Log hears about what is found, initialised and waited for. Nil: silence.
	Log *slog.Logger
}

// Server is a running server and how to reach it. Its methods may be called from several goroutines.
type Server struct {
	cfg     *mysql.Config
	admin   *sql.DB
	version string
	source  string
	private *private // nil: not ours to stop

	closing  sync.Once
	closeErr error
}

// Start finds a server (see the package comment for the order), starts it if it must be started, and returns
// when it answers. ctx bounds the start only; a running server ends with [Server.Close] or with this process.
// Errors: [ErrNoServer], [ErrOtherEngine], [ErrInUse], or what went wrong with the last lines of the server's
// log.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if dsn := os.Getenv(EnvDSN); dsn != "" && !o.Private {
		return Use(ctx, dsn, EnvDSN)
	}
	bin, err := find(ctx)
	if err != nil {
		return nil, err
	}
	p, err := startPrivate(ctx, bin, o)
	if err != nil {
		return nil, err
	}
	where := "a throw-away folder"
	if o.Dir != "" {
		where = o.Dir
	}
	source := fmt.Sprintf("%s (%s), started privately on %s with its data in %s", bin.path, bin.how, p.addr, where)
	s, err := connect(ctx, p.config(), source)
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	s.private = p
	o.Log.Info("database server ready", "engine", s.Engine(), "version", s.version, "source", source)
	return s, nil
}

// Use connects to a server that is running already; Close leaves it running. found says where the DSN came
// from, for [Server.Source]. The DSN's address and credentials are kept, its database and its settings are
// replaced.
func Use(ctx context.Context, dsn, found string) (*Server, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		// The driver's message does not repeat the DSN, so no password can get into a log from here.
		return nil, fmt.Errorf("devdb: %s is not a data source name like root@tcp(127.0.0.1:3306)/: %w", found, err)
	}
	return connect(ctx, cfg, fmt.Sprintf("a running server at %s (%s)", cfg.Addr, found))
}

// SELECT VERSION() touches no table.
const sqlVersion = `SELECT VERSION()`

func connect(ctx context.Context, cfg *mysql.Config, source string) (*Server, error) {
	cfg = cfg.Clone()
	cfg.DBName = ""
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("devdb: %s: %w", source, err)
	}
	s := &Server{cfg: cfg, admin: sql.OpenDB(connector), source: source}
	s.admin.SetMaxOpenConns(4)
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := s.admin.QueryRowContext(ctx, sqlVersion).Scan(&s.version); err != nil {
		return nil, errors.Join(fmt.Errorf("devdb: %s does not answer: %w", source, err), s.admin.Close())
	}
	return s, nil
}

// Version is the server's own answer to SELECT VERSION().
func (s *Server) Version() string { return s.version }

// Engine is [MariaDB] or [MySQL], from the server's own answer.
func (s *Server) Engine() string { return engineOf(s.version) }

func engineOf(version string) string {
	if strings.Contains(strings.ToLower(version), "mariadb") {
		return MariaDB
	}
	return MySQL
}

// Source says in words which server was found and how. It never contains a password.
func (s *Server) Source() string { return s.source }

// IsolationVariable is the name of the system variable for a session's isolation level: MariaDB 10 knows only
// tx_isolation, MySQL 8 only transaction_isolation.
func (s *Server) IsolationVariable() string {
	if s.Engine() == MariaDB {
		return "tx_isolation"
	}
	return "transaction_isolation"
}

// Config returns the driver's configuration with the recommended settings for a database on this server. It
// is the caller's own copy.
func (s *Server) Config(database string) *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = s.cfg.User, s.cfg.Passwd, s.cfg.Net, s.cfg.Addr
	cfg.TLSConfig, cfg.TLS, cfg.AllowNativePasswords = s.cfg.TLSConfig, s.cfg.TLS, s.cfg.AllowNativePasswords
	cfg.AllowCleartextPasswords, cfg.AllowFallbackToPlaintext = s.cfg.AllowCleartextPasswords, s.cfg.AllowFallbackToPlaintext
	cfg.DBName = database
	cfg.Collation = "utf8mb4_general_ci" // known to every version of both engines; makes the connection utf8mb4
	cfg.InterpolateParams = true         // one round trip per statement, not two
	cfg.ParseTime = true
	cfg.Loc = time.UTC
	cfg.Params = map[string]string{
		s.IsolationVariable(): "'READ-COMMITTED'", // here, not by a round trip per transaction
		"time_zone":           "'+00:00'",
	}
	return cfg
}

// DSN returns a data source name with the recommended settings for a database on this server: READ COMMITTED,
// interpolateParams, parseTime, UTC, utf8mb4. It contains the password, if there is one.
func (s *Server) DSN(database string) string { return s.Config(database).FormatDSN() }

// CreateDatabase makes a database with the character set utf8mb4, unless it exists. One statement.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	if _, err := s.admin.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+quote(name)+" CHARACTER SET utf8mb4"); err != nil {
		return fmt.Errorf("devdb: create database %q: %w", name, err)
	}
	return nil
}

// DropDatabase removes a database if it exists. It waits for at most five seconds for transactions that are
// still open in it. Two statements on one connection.
func (s *Server) DropDatabase(ctx context.Context, name string) (err error) {
	conn, err := s.admin.Conn(ctx)
	if err != nil {
		return fmt.Errorf("devdb: drop database %q: %w", name, err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "SET SESSION lock_wait_timeout = 5"); err != nil {
		return fmt.Errorf("devdb: drop database %q: %w", name, err)
	}
	if _, err := conn.ExecContext(ctx, "DROP DATABASE IF EXISTS "+quote(name)); err != nil {
		return fmt.Errorf("devdb: drop database %q: %w", name, err)
	}
	return nil
}

// quote makes any text an identifier: within backticks only the backtick has a meaning.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Close stops a private server cleanly (SIGTERM; after ten seconds SIGKILL, which is reported as an error)
// and removes a throw-away folder. A server that was only used is left running. Later calls return the first
// one's answer.
func (s *Server) Close() error {
	s.closing.Do(func() {
		s.closeErr = s.admin.Close()
		if s.private != nil {
			s.closeErr = errors.Join(s.closeErr, s.private.stop())
		}
	})
	return s.closeErr
}
