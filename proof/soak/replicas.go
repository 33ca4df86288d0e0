package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/compare"
)

// replicas is a site of a primary and two replicas, in three places.
//
//	load ─► proxies ─► primary ◄─ wire ◄─ two replicas
//
// The replicas reach the primary, whichever it is, through one proxy, so they are told of it once.
type replicas struct {
	dialect
	semi    bool
	hosts   bool
	servers [3]*server
	primary int
	wire    *proxy
	port    int // of the wire
}

const (
	accountName = "app"
	makeAccount = `CREATE USER app@localhost IDENTIFIED BY 'app'`
	// Not SUPER nor its parts: a server that is read only must be so for the load.
	grantLoad   = `GRANT ALL PRIVILEGES ON ` + database + `.* TO app@localhost`
	makeReplica = `CREATE USER replica@localhost IDENTIFIED BY 'replica'`
	grantCopy   = `GRANT REPLICATION SLAVE ON *.* TO replica@localhost`
)

func newReplicas(s *soak, dir string) (*replicas, error) {
	c := &replicas{semi: s.kind == semisync, hosts: s.hosts}
	for i := range c.servers {
		c.servers[i] = &server{dir: filepath.Join(dir, strconv.Itoa(i)), engine: s.engine, log: s.log}
	}
	return c, nil
}

// start makes one server and copies it twice.
func (c *replicas) start(ctx context.Context) error {
	first := c.servers[0]
	if err := first.start(ctx); err != nil {
		return err
	}
	c.dialect = mysqlDialect
	if first.now.Engine() == devdb.MariaDB {
		c.dialect = mariaDialect
	}
	for i, s := range c.servers {
		s.args = append([]string{fmt.Sprint("--server-id=", i+1)}, c.flags...)
		if c.semi {
			s.args = append(s.args, c.semisync...)
		}
	}
	for _, to := range c.servers[1:] {
		if err := errors.Join(first.close(), copyData(first, to)); err != nil {
			return err
		}
	}
	for _, s := range c.servers {
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	wire, err := newProxies(1, first.addr())
	if err != nil {
		return err
	}
	c.wire = wire[0]
	c.port, err = strconv.Atoi(c.wire.Listen[strings.LastIndex(c.wire.Listen, ":")+1:])
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	return c.connect(ctx)
}

// connect makes two replicas of the first server and then the accounts and the database.
func (c *replicas) connect(ctx context.Context) error {
	if err := c.exec(ctx, 0, c.writable, makeReplica, grantCopy); err != nil {
		return err
	}
	for i := range c.servers[1:] {
		if err := c.exec(ctx, i+1, fmt.Sprintf(c.follow, c.port), startReplica); err != nil {
			return err
		}
	}
	if c.semi {
		if err := c.exec(ctx, 0, c.semiOn); err != nil {
			return err
		}
	}
	if err := c.exec(ctx, 0, "CREATE DATABASE "+database+" CHARACTER SET utf8mb4", makeAccount, grantLoad); err != nil {
		return err
	}
	return c.caughtUp(ctx)
}

// copyData copies the data of a server that is stopped. MySQL would find its own id in the copy.
func copyData(from, to *server) error {
	source, target := filepath.Join(from.dir, "data"), filepath.Join(to.dir, "data")
	if err := errors.Join(os.RemoveAll(target), os.MkdirAll(to.dir, 0o700)); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if err := os.CopyFS(target, os.DirFS(source)); err != nil {
		return fmt.Errorf("soak: copy a server's data: %w", err)
	}
	if err := os.Remove(filepath.Join(target, "auto.cnf")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("soak: %w", err)
	}
	return nil
}

// on gives fn a pool of an administrator's for a server.
func (c *replicas) on(node int, fn func(db *sql.DB) error) (err error) {
	db, err := sql.Open("mysql", c.servers[node].now.DSN(""))
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	return fn(db)
}

func (c *replicas) exec(ctx context.Context, node int, statements ...string) error {
	return c.on(node, func(db *sql.DB) error {
		for _, stmt := range statements {
			if _, err := db.ExecContext(ctx, stmt); err != nil {
				return fmt.Errorf("soak: server %d: %w: %s", node, err, stmt)
			}
		}
		return nil
	})
}

func (c *replicas) name() string {
	s, how := c.servers[c.primary].now, "semi-synchronous"
	if !c.semi {
		how = "asynchronous"
	}
	return fmt.Sprintf("%s %s, a primary and two %s replicas", s.Engine(), s.Version(), how)
}

func (c *replicas) nodes() int { return len(c.servers) }

func (c *replicas) config() *mysql.Config {
	cfg := c.servers[c.primary].now.Config(database)
	cfg.User, cfg.Passwd, cfg.AllowNativePasswords = accountName, accountName, true
	return cfg
}

// upstream is the primary, unless the load knows all nodes.
func (c *replicas) upstream(node int) string {
	if !c.hosts {
		node = c.primary
	}
	return c.servers[node].addr()
}

func (c *replicas) open() (*sql.DB, error) {
	return pool.Open(c.servers[c.primary].now.DSN(database))
}

// deaths demands that with AFTER_SYNC nobody reads what no replica has.
func (c *replicas) deaths() []time.Time { return nil }

func (c *replicas) differ(ctx context.Context) ([]string, error) {
	if err := c.caughtUp(ctx); err != nil {
		return nil, err
	}
	var all []*sql.DB
	for _, s := range c.servers {
		db, err := sql.Open("mysql", s.now.DSN(database))
		if err != nil {
			return nil, fmt.Errorf("soak: %w", err)
		}
		all = append(all, db)
	}
	differ, err := compare.Differ(ctx, all, patience)
	for _, db := range all {
		err = errors.Join(err, db.Close())
	}
	return differ, err
}

// keep demands that their data is there.
func (c *replicas) keep(context.Context, string) error { return nil }

func (c *replicas) close() error {
	var errs []error
	if c.wire != nil {
		c.wire.Stop()
	}
	for _, s := range c.servers {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}
