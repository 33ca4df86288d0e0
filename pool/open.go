package pool

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/guard"
	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/internal/settings"
)

// ErrNoHost means: none of the hosts of the data source name can be used now. Its text names each host that
// was tried, in that order, and why it cannot be used.
var ErrNoHost = hosts.ErrNoHost

// Open returns a pool with the recommended settings; what the data source name (in go-sql-driver's form) says
// itself is kept, but for what would break a promise, which is refused with [ErrSetting]:
//
//   - READ COMMITTED, set once per connection and not once per transaction: fewer
//     locks, hence fewer deadlocks and less waiting. READ UNCOMMITTED is refused.
//   - interpolateParams: one round trip per statement instead of two. Only with a character set in which no
//     character contains a quote or a backslash; with gbk, big5, sjis, cp932, gb18030 and what is not known
//     here it stays off, and is refused if the name asks for it, for an argument could then end its quotes:
//     an SQL injection.
//   - Several statements in one packet, where arguments are interpolated and the server, or the proxy in
//     front of it, takes them: see Round trips in the documentation of onerow. It is for what the toolkit
//     sends: a text of the caller's with a semicolon in it is prepared, three round trips instead of one,
//     and refused (1064) if it is more than one statement, so none can be slipped in. multiStatements=true
//     in the name lets texts of several through; multiStatements=false sends each statement by itself.
//   - autocommit = 1, completion_type = NO_CHAIN, unique_checks = 1, foreign_key_checks = 1,
//     sql_safe_updates = 0, sql_auto_is_null = 0, no sql_select_limit, sql_big_selects = 1 and neither
//     EMPTY_STRING_IS_NULL nor PAD_CHAR_TO_FULL_LENGTH in sql_mode, whatever the server's defaults. Another
//     value in the name is refused, and so are sql_log_bin=0 and a timestamp.
//   - One character set for what is sent, what the server makes of it and what it answers, whatever the
//     server's init_connect says. Variables that say another one for a part of it, and binary, are refused.
//   - In utf8mb4, which is the default, bytes that are JSON travel as text, so a []byte goes into a JSON
//     column of MySQL too, which makes no JSON of what the driver calls binary (error 3144). Elsewhere,
//     and in a pool that has only [Guard], pass them as json.RawMessage. Columns of bytes get the same bytes.
//   - [Guard]: once a transaction is lost, nothing is written before ROLLBACK.
//   - Causal reads on a cluster: a node answers when it has applied what was committed before on any other.
//     wsrep_sync_wait has the bits of 7 where wsrep is on; group_replication_consistency is BEFORE where that
//     plugin is active, BEFORE_ON_PRIMARY_FAILOVER with a single primary. A stronger value of the server's is
//     kept. A name that says either variable itself is taken at its word, and [Check] lets it pass: for a
//     program that routes all requests of an owner to one node, or reads what may be old.
//
// The address may be a list: tcp(a:3306,b:3306,[::1]:3306); a host without a port has 3306. It is of nodes of
// one cluster, or of a primary and those that may become it. A new connection goes to the first one in the
// order of the name that can be used, so that all who write agree on one node: each of several primaries
// takes writes, but they collide at COMMIT. A host that refuses, or does not answer within the timeout that
// the name says (5 seconds if none), is left out for one second, and so is one that takes no writes or is
// outside of its cluster's majority, which each new connection asks for, in one statement more: read_only, a
// Galera node that is not ready or not in the primary component, a member of a group that is not ONLINE or
// does not see the majority (for this the user needs SELECT on performance_schema.replication_group_members;
// without it such a member is recognized by super_read_only only). Hence a server that does not write gets no
// verb and no locking read. A session that is told so later (1047; 1290 for read_only; 1792, 1836) takes its
// host out as well, with all sessions to it, and onerow.InTx runs the transaction again on another. When none
// is left those that are left out are tried as well, and the error is [ErrNoHost]. A host that is back gets
// new connections only: SetConnMaxLifetime brings the others home.
//
// How many connections there may be is the program's to say, with SetMaxOpenConns, and the same number to
// SetMaxIdleConns: database/sql keeps two that nobody uses, and a program that serves more at a time opens
// the others anew for most requests.
//
// It does not connect; what the server itself is set to is asked by [Check]. The error of an invalid name
// does not repeat it, for it may hold a password.
func Open(dsn string) (*sql.DB, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil || dsn == "" { // the driver would try 127.0.0.1
		// The driver refuses some collations with interpolateParams=true, and does not say that this is it.
		without, werr := mysql.ParseDSN(interpolates.ReplaceAllString(dsn, "${1}unused="))
		if werr == nil && !CanInterpolate(without) {
			return nil, settings.UnsafeInterpolation.Of(unsafeCharset(without))
		}
		return nil, errors.New(`onerow: the data source name is empty or cannot be understood; it should be user:password@tcp(host:3306)/database`)
	}
	if !interpolates.MatchString(dsn) {
		cfg.InterpolateParams = CanInterpolate(cfg)
	}
	connector, err := newConnector(cfg, !apart.MatchString(dsn))
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

var (
	interpolates = regexp.MustCompile(`([?&])interpolateParams=`)
	apart        = regexp.MustCompile(`(?i)[?&]multiStatements=(0|f|false)(&|$)`)
)

// NewConnector is what [Open] opens its pool with, for a configuration that was made in Go: one with a
// password for each connection (mysql.BeforeConnect) or a dialer of its own (mysql.RegisterDialContext), say.
// InterpolateParams is kept as it is; [CanInterpolate] says whether it may be true. One statement per
// connection sets what Open promises and what cfg.Params say.
func NewConnector(cfg *mysql.Config) (driver.Connector, error) { return newConnector(cfg, true) }

func newConnector(cfg *mysql.Config, packets bool) (driver.Connector, error) {
	cfg = cfg.Clone()
	if cfg.InterpolateParams && !CanInterpolate(cfg) {
		return nil, settings.UnsafeInterpolation.Of(unsafeCharset(cfg))
	}
	if err := refuseParams(cfg); err != nil {
		return nil, err
	}
	how := hosts.SetUp{Texts: setUpTexts(cfg), Named: cfg.MultiStatements}
	cfg.Params, cfg.MultiStatements = nil, how.Named || packets && cfg.InterpolateParams
	how.Probes = cfg.MultiStatements
	opener, err := hosts.New(cfg, how)
	if err != nil {
		return nil, err
	}
	return guard.Opened(opener, isUTF8MB4(cfg)), nil
}

// variable is a parameter's name without its scope.
func variable(param string) string {
	return strings.ToLower(param[strings.LastIndexAny(param, ".@ ")+1:])
}

// refuseParams looks at the character sets and system variables of the configuration.
func refuseParams(cfg *mysql.Config) error {
	if handshakeCharset(cfg) == "binary" || slices.Contains(charsets(cfg), "binary") {
		return settings.BinaryCharset.Of("charset", "binary")
	}
	for param, value := range cfg.Params {
		if i := strings.LastIndex(value, "/*"); i >= 0 && !strings.Contains(value[i+2:], "*/") { // it would end in what Open sets
			return fmt.Errorf("onerow: the system variable %s of the data source name begins a comment that it does not end", param)
		}
		if err := refuseParam(cfg, param, variable(param), strings.ToLower(strings.Trim(value, `'" `))); err != nil {
			return err
		}
	}
	return nil
}
