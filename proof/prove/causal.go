package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/repo"
)

const wait4Node = "open the pool with pool.Open, which sets causal reads; and name in the DSN nodes of one cluster only"

var causalChecks = []check{
	{
		name: "second-session", promise: promiseCausal, with: plain,
		fix:  "something between here and the server sends reads elsewhere: give onerow a port of the proxy without that rule",
		what: "a second session of the DSN sees what was just committed",
		run:  func(ctx context.Context, s *site) (string, error) { return s.readAfter(ctx, s.plain, s.plain) },
	},
	{
		name: "node-reads", promise: promiseCausal, with: plain, fix: wait4Node,
		what: "a session of -node sees what was just committed through -dsn",
		run: func(ctx context.Context, s *site) (string, error) {
			return s.elsewhere(ctx, "-node", s.others.node, false)
		},
	},
	{
		name: "node-reads-opened", promise: promiseCausal, with: opened, fix: "name in -node a node of the same cluster; if it is one, tell the authors of onerow",
		what: "the same",
		run: func(ctx context.Context, s *site) (string, error) {
			return s.elsewhere(ctx, "-node", s.others.node, true)
		},
	},
	{
		name: "node-names", promise: promiseNames, with: opened, fix: "let one server take the writes: these two do not refuse each other's",
		what: "callers on both nodes create rows of one name", run: nodeNames,
	},
	{
		name: "replica-reads", promise: promiseCausal, with: plain,
		fix:  "send it only reads that may be old, and nothing of onerow's: a verb, its reads too, needs the primary",
		what: "a session of -replica sees what was just committed through -dsn",
		run: func(ctx context.Context, s *site) (string, error) {
			return s.elsewhere(ctx, "-replica", s.others.replica, false)
		},
	},
}

// elsewhere opens another server's pool on the database, when it has got it.
func (s *site) elsewhere(ctx context.Context, flag string, cfg *mysql.Config, open bool) (_ string, err error) {
	db, err := s.at(ctx, flag, cfg, open)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	from := s.plain
	if open {
		from = s.opened
	}
	return s.readAfter(ctx, from, db)
}

// at is a pool on another server. The database is there when the server has heard of it.
func (s *site) at(ctx context.Context, flag string, cfg *mysql.Config, open bool) (db *sql.DB, err error) {
	if cfg == nil {
		return nil, &notTried{"no " + flag + " was given", false}
	}
	cfg = cfg.Clone()
	cfg.DBName = s.name
	if open {
		db, err = pool.Open(cfg.FormatDSN())
	} else {
		db, err = poolOf(cfg)
	}
	if err != nil {
		return nil, refusal(err)
	}
	db.SetMaxIdleConns(20)
	const erNoDatabase, erNoTable = 1049, 1146
	begin := time.Now()
	for {
		var n int
		err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM prove_note`).Scan(&n)
		number := mysqlerr.Number(err)
		switch {
		case err == nil:
			return db, nil
		case number != erNoDatabase && number != erNoTable && !lacksRight(err):
			return nil, errors.Join(&notTried{flag + ": " + unreachable(cfg, err).Error(), true}, db.Close())
		case time.Since(begin) > patience:
			return nil, errors.Join(fmt.Errorf("the database that was made through -dsn is not on %s after %v: it is no server of the same cluster, or it lags", flag, patience), db.Close())
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// readAfter commits rows that take a while to apply, and looks for each at once. No id comes twice: a server
// that lags still has the rows of the check before.
func (s *site) readAfter(ctx context.Context, write, read *sql.DB) (string, error) {
	missing := 0
	if err := s.run(ctx, `DELETE FROM prove_note`); err != nil {
		return "", err
	}
	until, rows := time.Now().Add(s.budget()), 0
	for range 10 * s.rounds() {
		if rows > 0 && time.Now().After(until) {
			break
		}
		rows++
		s.notes++
		err := byHand(ctx, write, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO prove_note VALUES (?, REPEAT('x', 10000))`, s.notes)
			return err
		})
		if err != nil {
			return "", err
		}
		var n int
		if err := read.QueryRowContext(ctx, `SELECT COUNT(*) FROM prove_note WHERE id = ?`, s.notes).Scan(&n); err != nil {
			return "", err
		}
		missing += 1 - n
	}
	if missing > 0 {
		return "", fmt.Errorf("%d of %d rows that were committed were not there for the next statement", missing, rows)
	}
	return fmt.Sprintf("all %d rows are there", rows), nil
}

// nodeNames: of all callers on both nodes one gets the name.
func nodeNames(ctx context.Context, s *site) (_ string, err error) {
	db, err := s.at(ctx, "-node", s.others.node, true)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	k, err := newKit()
	if err != nil {
		return "", err
	}
	rounds, err := s.repeat(func(round int) error {
		won := 0
		for _, err := range together(many, func(i int) error {
			_, err := k.projects.Create(ctx, []*sql.DB{s.opened, db}[i%2], project{UserID: owner + 1, Name: fmt.Sprint("on both ", round)})
			return err
		}) {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, repo.ErrNameTaken):
				return err
			}
		}
		if won != 1 {
			return fmt.Errorf("%d callers on two nodes were given one name", won)
		}
		return nil
	})
	return fmt.Sprintf("one of %d has the name, %d times", many, rounds), err
}
