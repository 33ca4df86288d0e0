package onerow

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Open returns a pool with the recommended settings; what the data source name (in go-sql-driver's form) says
// itself is kept, but for what would break a promise, which is refused with [ErrSetting]:
//
//   - READ COMMITTED, set once per connection and not once per transaction: fewer
//     locks, hence fewer deadlocks and less waiting. READ UNCOMMITTED is refused.
//   - interpolateParams: one round trip per statement instead of two. Only with a character set in which no
//     character contains a quote or a backslash; with gbk, big5, sjis, cp932, gb18030 and what is not known
//     here it stays off, and is refused if the name asks for it, for an argument could then end its quotes:
//     an SQL injection.
//   - autocommit = 1, whatever the server's default. autocommit=0 is refused.
//   - [Guard]: behind a transaction that is lost nothing is written.
//
// How many connections there may be is the program's to say, with SetMaxOpenConns, and the same number to
// SetMaxIdleConns: database/sql keeps two that nobody uses, and a program that serves more at a time opens
// the others anew for most requests.
//
// It does not connect; what the server itself is set to is asked by [Check]. The error of an invalid name
// does not repeat it, for it may hold a password.
func Open(dsn string) (*sql.DB, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		// The driver refuses some collations with interpolateParams=true, and does not say that this is it.
		without, werr := mysql.ParseDSN(interpolates.ReplaceAllString(dsn, "${1}unused="))
		if werr == nil && !CanInterpolate(without) {
			return nil, unsafeInterpolation(unsafeCharset(without))
		}
	}
	if err != nil {
		return nil, errors.New(`onerow: the data source name cannot be understood; it should be user:password@tcp(host:3306)/database`)
	}
	if !interpolates.MatchString(dsn) {
		cfg.InterpolateParams = CanInterpolate(cfg)
	}
	connector, err := NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

var interpolates = regexp.MustCompile(`([?&])interpolateParams=`)

// NewConnector is what [Open] opens its pool with, for a configuration that was made in Go. InterpolateParams
// is kept as it is; [CanInterpolate] says whether it may be true. One statement per connection sets what Open
// promises; the driver sends another one before it if cfg.Params has any, and then that one does for both if
// it sets the isolation level.
func NewConnector(cfg *mysql.Config) (driver.Connector, error) {
	cfg = cfg.Clone()
	if cfg.InterpolateParams && !CanInterpolate(cfg) {
		return nil, unsafeInterpolation(unsafeCharset(cfg))
	}
	isolation, err := refuseParams(cfg)
	if err != nil {
		return nil, err
	}
	client := ""
	if cfg.InterpolateParams && !saysCharset(cfg) {
		client = handshakeCharset(cfg) // a server may be set to ignore what was agreed at the handshake
	}
	if isolation {
		cfg.Params["autocommit"] = "1"
		if client != "" {
			cfg.Params["character_set_client"] = client
		}
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("onerow: the settings of the data source name contradict each other: %w", err)
	}
	if !isolation {
		connector = recommended{connector, client}
	}
	return Guard(connector), nil
}

// refuseParams looks at the system variables of the configuration, and says whether the isolation level is
// among them.
func refuseParams(cfg *mysql.Config) (isolation bool, err error) {
	for param, value := range cfg.Params {
		name := strings.ToLower(param[strings.LastIndexAny(param, ".@ ")+1:])
		value := strings.ToLower(strings.Trim(value, `'" `))
		switch name {
		case "autocommit":
			if value != "1" && value != "on" && value != "true" {
				return false, autocommitOff.of(param, value)
			}
		case "tx_isolation", "transaction_isolation":
			isolation = true
			if strings.Contains(value, "uncommitted") || value == "0" {
				return false, readUncommitted.of(param, value)
			}
		}
	}
	return isolation, nil
}

// ReadCommitted wraps a connector so that each new connection starts in autocommit at READ
// COMMITTED. It is a statement and not a setting of the data source name, because
// the variable's name differs between the engines. One statement per connection.
func ReadCommitted(c driver.Connector) driver.Connector { return recommended{c, ""} }

// recommended sets up each new session.
type recommended struct {
	driver.Connector
	client string // character_set_client; empty: as it is
}

// One statement for both engines: MariaDB before 11.1 knows only tx_isolation, MySQL only
// transaction_isolation. Either reads what is in its own kind of comment.
const (
	setSession       = `SET SESSION autocommit = 1, SESSION /*!50701 transaction_isolation */ /*M! tx_isolation */ = 'READ-COMMITTED'`
	setClientCharset = `, SESSION character_set_client = `
)

// Where those comments are not understood, by a proxy or by a later engine, it takes two statements.
const (
	setReadCommitted = `SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`
	setAutocommit    = `SET SESSION autocommit = 1`
)

// Connect opens a session and sets it up.
func (s recommended) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := s.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("onerow: the driver cannot run a statement on a new connection"), conn.Close())
	}
	charset := ""
	if s.client != "" {
		charset = setClientCharset + s.client
	}
	if _, err = execer.ExecContext(ctx, setSession+charset, nil); errNumber(err) != 0 {
		if _, err = execer.ExecContext(ctx, setReadCommitted, nil); err == nil {
			_, err = execer.ExecContext(ctx, setAutocommit+charset, nil)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("onerow: set up a connection: %w", err), conn.Close())
	}
	return conn, nil
}
