package shell

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade/internal/fit"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/pool"
)

// connectTimeout is how long the first connection may take altogether.
const connectTimeout = 10 * time.Second

// Open connects to the database of the DSN, until the command has ended.
func (a *App) Open(ctx context.Context) (*sql.DB, error) {
	cfg, err := ParseDSN(a.DSN)
	if err != nil {
		return nil, err
	}
	connector, err := pool.NewConnector(cfg)
	var setting *pool.SettingError
	switch {
	case errors.As(err, &setting):
		return nil, usage.Errorf("the DSN's setting %s = %q cannot be used: %s; %s", setting.Setting, setting.Value, setting.Why, setting.Fix)
	case err != nil:
		return nil, usage.Errorf("the DSN's settings contradict each other; it should be %s", dsnForm)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(8)
	db.SetConnMaxIdleTime(time.Minute)
	tried, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err := db.PingContext(tried); err != nil {
		return nil, errors.Join(unreachable(ctx, a.DSN, cfg, err), db.Close())
	}
	a.close = append(a.close, db.Close)
	return db, nil
}

// BareDB is a database that may lack the toolkit's tables.
type BareDB struct{ *sql.DB }

// OpenMigrated opens a database that has the toolkit's tables.
func (a *App) OpenMigrated(ctx context.Context) (*sql.DB, error) {
	db, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	missing, err := fit.Pending(ctx, db)
	if err == nil && missing > 0 {
		err = fmt.Errorf("the database lacks the toolkit's tables (%d of its migrations), or does not show them to this user: run %s migrate up, or verify for the rights", missing, output.ProgramName)
	}
	return db, err
}

// unreachable says what was tried, why it failed and what to do.
func unreachable(ctx context.Context, dsn string, cfg *mysql.Config, err error) error {
	where := Address(cfg)
	var my *mysql.MySQLError
	var network *net.OpError
	var name *net.DNSError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("while connecting to the database at %s: %w", where, context.Cause(ctx))
	case errors.As(err, &my):
		return refused(cfg, my, strings.Contains(dsn, "?"))
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("cannot reach the database at %s: connection refused; is the server running there, and is the port right?", where)
	case errors.As(err, &name):
		return fmt.Errorf("cannot reach the database at %s: the host name is unknown; is it spelled right?", where)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return fmt.Errorf("cannot reach the database at %s: no answer in time; is the address right, and does a firewall let this machine through?", where)
	case errors.As(err, &network):
		return fmt.Errorf("cannot reach the database at %s: %w; is the server running there?", where, network.Err)
	}
	return fmt.Errorf("cannot reach the database at %s: %w; is it a MySQL or MariaDB server, and do its TLS settings fit the DSN?", where, err)
}

// refused explains what the server answered to a login. The server's own text is not
// repeated where it may quote the DSN's parameters.
func refused(cfg *mysql.Config, my *mysql.MySQLError, hasParams bool) error {
	where := Address(cfg)
	switch my.Number {
	case 1045, 1698: // ER_ACCESS_DENIED_ERROR, with and without a password
		return fmt.Errorf("the database at %s does not let the user %q in (error %d): check user and password in the DSN", where, cfg.User, my.Number)
	case 1130, 1129: // ER_HOST_NOT_PRIVILEGED, ER_HOST_IS_BLOCKED
		return fmt.Errorf("the database at %s does not let this machine in (error %d): check the user's host on the server", where, my.Number)
	case 1049: // ER_BAD_DB_ERROR
		return fmt.Errorf("the server at %s has no database %q: create it, or correct the DSN", where, cfg.DBName)
	case 1044: // ER_DBACCESS_DENIED_ERROR
		return fmt.Errorf("the user %q may not use the database %q at %s: GRANT it, or correct the DSN", cfg.User, cfg.DBName, where)
	case 1040: // ER_CON_COUNT_ERROR
		return fmt.Errorf("the database at %s has no connection left (error %d): try again, or raise max_connections", where, my.Number)
	}
	if hasParams {
		return fmt.Errorf("the database at %s refused a parameter of the DSN (error %d), perhaps one of %q: what the driver does not know must be a system variable, text in quotes",
			where, my.Number, slices.Sorted(maps.Keys(cfg.Params)))
	}
	return fmt.Errorf("the database at %s refused the connection: %w", where, my)
}

// Database says where the worker works, without a password.
func (a *App) Database() string {
	cfg, err := ParseDSN(a.DSN)
	if err != nil {
		return ""
	}
	return Address(cfg) + "/" + output.Printable(cfg.DBName)
}
