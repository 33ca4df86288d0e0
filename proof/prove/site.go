package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/pool"
)

// about is what the server says of itself.
type about struct {
	Version   string `json:"version"`
	Isolation string `json:"isolation"` // of plain sessions
}

// site is the database of a run, and the ways to it.
type site struct {
	name  string
	about about
	keep  bool
	short bool
	all   time.Duration
	began time.Time

	cfg   *mysql.Config // the operator's, in the database
	admin *sql.DB       // of our own settings, for what is not judged; one host, no database
	work  *sql.DB       // the same in the database
	lock  *sql.Conn     // says that the run is at work
	plain *sql.DB       // the operator's settings alone
	// opened is of pool.Open, nil if it was refused.
	opened  *sql.DB
	refused error

	galera bool // a node of it
	group  bool // a member of a MySQL replication group
	others servers
	facts  []fact
	notes  int // ids of prove_note that were given
}

// admins are the settings of sessions in which nothing is judged: whatever the server's defaults, what they
// write stays.
func admins(cfg *mysql.Config) *mysql.Config {
	own := cfg.Clone()
	own.DBName, own.Collation = "", ""
	own.Addr, _, _ = strings.Cut(own.Addr, ",")
	own.Params = map[string]string{"autocommit": "1"}
	own.ClientFoundRows = false
	own.Timeout = 5 * time.Second
	return own
}

// poolOf is a pool of the driver's, for a configuration.
func poolOf(cfg *mysql.Config) (*sql.DB, error) {
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, errors.New("the driver refuses the data source name")
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(20)
	return db, nil
}

// patience is how long a server may take to answer for the first time.
const patience = 10 * time.Second

func connectAdmin(ctx context.Context, cfg *mysql.Config) (*sql.DB, error) {
	own := admins(cfg)
	admin, err := poolOf(own)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := admin.PingContext(ctx); err != nil {
		_ = admin.Close() //nolint:errcheck // it was never open
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("the server at %s does not answer within %v", own.Addr, patience)
		}
		return nil, unreachable(own, err)
	}
	return admin, nil
}

// open makes the database and the pools. An error is one sentence, and nothing is left behind it.
func open(ctx context.Context, o options, servers servers, progress io.Writer) (_ *site, err error) {
	s := &site{name: newName(), keep: o.keep, short: o.short, all: o.all, others: servers, began: time.Now()}
	if s.admin, err = connectAdmin(ctx, servers.dsn); err != nil {
		return nil, err
	}
	if err := nameLeft(ctx, s.admin, progress); err != nil {
		return nil, errors.Join(unreachable(servers.dsn, err), s.admin.Close())
	}
	if err := makeDatabase(ctx, s.admin, s.name); err != nil {
		return nil, errors.Join(unreachable(servers.dsn, err), s.admin.Close())
	}
	if o.made != nil {
		o.made(s.name)
	}
	defer func() {
		if err != nil {
			s.keep = false
			err = errors.Join(err, s.close(io.Discard))
		}
	}()
	if err := s.connect(ctx); err != nil {
		return nil, unreachable(servers.dsn, err)
	}
	say(progress, "%s, plain sessions at %s; the database is %s.\n", s.about.Version, s.about.Isolation, s.name)
	if err := s.makeTables(ctx); err != nil {
		return nil, fmt.Errorf("the tables cannot be made: %w", err)
	}
	for _, statement := range o.spoil {
		if _, err := s.work.ExecContext(ctx, statement); err != nil {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
	}
	return s, nil
}

// connect opens the pools, and holds the lock.
func (s *site) connect(ctx context.Context) (err error) {
	if s.lock, err = s.admin.Conn(ctx); err != nil {
		return err
	}
	if _, err := s.lock.ExecContext(ctx, sqlAtWork, s.name); err != nil && ctx.Err() != nil { // a Galera node has no such locks
		return err
	}
	own := admins(s.others.dsn)
	own.DBName = s.name
	if s.work, err = poolOf(own); err != nil {
		return err
	}
	s.cfg = s.others.dsn.Clone()
	s.cfg.DBName = s.name
	alone := s.cfg.Clone()
	alone.Addr = own.Addr
	if s.plain, err = poolOf(alone); err != nil {
		return err
	}
	s.opened, s.refused = s.openWith(nil)
	return s.ask(ctx)
}

// openWith is pool.Open with more parameters than the operator's.
func (s *site) openWith(params map[string]string) (*sql.DB, error) {
	cfg := s.cfg.Clone()
	cfg.Params = maps.Clone(cfg.Params)
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	maps.Copy(cfg.Params, params)
	db, err := pool.Open(cfg.FormatDSN())
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(20)
	return db, nil
}

// isolationVariable is the name of the server's variable: MariaDB 10 has only the first.
func (s *site) isolationVariable() string {
	if strings.Contains(s.about.Version, "MariaDB") {
		return "tx_isolation"
	}
	return "transaction_isolation"
}

// ask has the server's version, and the level of plain sessions.
func (s *site) ask(ctx context.Context) error {
	if err := s.plain.QueryRowContext(ctx, `SELECT VERSION()`).Scan(&s.about.Version); err != nil {
		return err
	}
	if err := s.plain.QueryRowContext(ctx, `SELECT @@`+s.isolationVariable()).Scan(&s.about.Isolation); err != nil {
		return err
	}
	var cluster string
	err := s.work.QueryRowContext(ctx, `SHOW VARIABLES WHERE Variable_name = 'wsrep_on' AND Value = 'ON' OR Variable_name = 'group_replication_group_name' AND Value <> ''`).Scan(&cluster, new(string))
	if errors.Is(err, sql.ErrNoRows) { // no node of any
		err = nil
	}
	s.galera, s.group = cluster == "wsrep_on", cluster == "group_replication_group_name"
	return err
}

// causal are the parameters by which a node waits for what others have committed, as pool.Open sets them.
func (s *site) causal() map[string]string {
	switch {
	case s.galera:
		return map[string]string{"wsrep_sync_wait": "7"}
	case s.group:
		return map[string]string{"group_replication_consistency": "'BEFORE'"}
	}
	return nil
}

// run executes statements in the database that are not judged.
func (s *site) run(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if _, err := s.work.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// count is one number that is committed.
func (s *site) count(ctx context.Context, query string, args ...any) (n int, err error) {
	tx, err := s.work.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, errors.Join(err, tx.Rollback())
}

// note keeps a fact.
func (s *site) note(name, is, so string) { s.facts = append(s.facts, fact{name, is, so}) }

// close ends all sessions and drops the database, whatever has happened.
func (s *site) close(progress io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, db := range []*sql.DB{s.opened, s.plain, s.work} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	if s.keep {
		say(progress, "The database %s is kept; -drop %s drops it.\n", s.name, s.name)
	} else {
		err = errors.Join(err, s.drop(ctx))
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	if err = errors.Join(err, s.admin.Close()); err != nil {
		return fmt.Errorf("after the run: %w; look for %s", err, ident.Quote(s.name))
	}
	return nil
}

// drop tries again while sessions that were left to the server still end.
func (s *site) drop(ctx context.Context) (err error) {
	for range 3 {
		if err = dropDatabase(ctx, s.admin, s.name); err == nil || errors.Is(err, errUnmarked) || ctx.Err() != nil {
			return err
		}
	}
	return err
}
