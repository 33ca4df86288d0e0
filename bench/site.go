package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
)

// site is a server with the toolkit's tables and the application's, and its peers.
type site struct {
	*peers
	server *devdb.Server
	dsn    string
	// db is as the toolkit opens it, packet takes several statements at once, apart is for what is not
	// measured.
	db, packet, apart *sql.DB
	stat              string // the kernel's file about the server's process
}

// openSite starts a server.
func openSite(ctx context.Context, program string, p *peers, clients int) (_ *site, err error) {
	if program != "" {
		if err := os.Setenv(devdb.EnvMysqld, program); err != nil {
			return nil, err
		}
	}
	s := &site{peers: p}
	if s.server, err = devdb.Start(ctx, devdb.Options{Private: true, Durable: true}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	const name = "bench"
	if err := s.server.CreateDatabase(ctx, name); err != nil {
		return nil, err
	}
	s.dsn = s.server.DSN(name)
	over := strings.Replace(s.dsn, "@tcp(", "@"+overNetwork+"(", 1)
	if over == s.dsn {
		return nil, fmt.Errorf("the server is at %s, which is no TCP port", s.dsn)
	}
	for _, o := range []struct {
		db  **sql.DB
		dsn string
	}{{&s.db, over}, {&s.packet, over + "&multiStatements=true"}, {&s.apart, s.dsn + "&multiStatements=true"}} {
		if *o.db, err = pool.Open(o.dsn); err != nil {
			return nil, err
		}
		(*o.db).SetMaxOpenConns(clients)
		(*o.db).SetMaxIdleConns(clients)
	}
	return s, migrations.Up(ctx, s.apart)
}

func (s *site) close() error {
	var errs []error
	for _, db := range []*sql.DB{s.db, s.packet, s.apart} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(append(errs, s.server.Close())...)
}

// exec is for what is not measured.
func (s *site) exec(ctx context.Context, statements ...string) error {
	for _, text := range statements {
		if _, err := s.apart.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%w: %.200s", err, text)
		}
	}
	return nil
}

// status is how many statements the server was sent, and how many deadlocks it met.
func (s *site) status(ctx context.Context) (statements, deadlocks int64, err error) {
	err = onerow.Query(ctx, s.apart, "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Innodb_deadlocks')", nil, func(rows *sql.Rows) error {
		var name string
		var n int64
		err := rows.Scan(&name, &n)
		if name == "Questions" {
			statements = n
		} else {
			deadlocks = n
		}
		return err
	})
	if err == nil && s.server.Engine() == devdb.MySQL {
		err = onerow.QueryRow(ctx, s.apart, "SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'", nil, &deadlocks)
	}
	return statements, deadlocks, err
}
