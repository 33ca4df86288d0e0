package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/onerow/onerow/internal/soak/check"
	"github.com/onerow/onerow/internal/soak/journal"
	"github.com/onerow/onerow/internal/soak/load"
)

const (
	webProcesses    = 2
	workerProcesses = 2
	owners          = 8
)

// soak is one run.
type soak struct {
	options
	dir    string
	out    io.Writer
	log    *slog.Logger
	length time.Duration // of the chaos: as planned, then as it was

	server   *server
	proxies  []*proxy
	children []*child // the web processes, then the workers
	chaos    chaos
	began    time.Time
}

func (s *soak) journals() string { return filepath.Join(s.dir, "journals") }

// run is the whole soak. broken says which promises are, "" that none is.
func (s *soak) run(ctx context.Context) (broken string, err error) {
	if err := say(s.out, "soak: seed %d, %v, %d clients in %d processes, %d workers", s.seed, s.length, s.clients, webProcesses, workerProcesses); err != nil {
		return "", err
	}
	if err := s.setUp(ctx); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.server.close()) }()
	if err := say(s.out, "soak: %s %s, private and durable", s.server.now.Engine(), s.server.now.Version()); err != nil {
		return "", err
	}
	if err := s.rage(ctx); err != nil {
		return "", err
	}
	after := context.WithoutCancel(ctx) // whatever ended the chaos, the check is made
	db, err := s.server.open()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := s.drain(after, db); err != nil {
		return "", err
	}
	entries, err := journal.Read(s.journals())
	if err != nil {
		return "", err
	}
	found, err := check.Run(after, db, journal.Forget(entries, s.server.kills))
	if err != nil {
		return "", err
	}
	jobs, err := readWork(after, db)
	if err != nil {
		return "", err
	}
	err = s.report(entries, found, jobs)
	if len(found) > 0 {
		return fmt.Sprintf("%d broken promises, the first: %s", len(found), found[0]), err
	}
	if err != nil {
		return "", err
	}
	return "", unshown(entries, jobs)
}

// setUp starts the server and makes the tables and the proxies.
func (s *soak) setUp(ctx context.Context) (err error) {
	if err := os.Mkdir(s.journals(), 0o700); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if err := chooseEngine(ctx, s.engine); err != nil {
		return err
	}
	if s.server, err = startServer(ctx, filepath.Join(s.dir, "server"), s.engine, s.log); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.server.close())
		}
	}()
	if err := s.server.now.CreateDatabase(ctx, database); err != nil {
		return err
	}
	db, err := s.server.open()
	if err != nil {
		return err
	}
	if err := errors.Join(load.CreateTables(ctx, db, owners), db.Close()); err != nil {
		return err
	}
	s.proxies, err = newProxies(webProcesses+workerProcesses, s.server.addr())
	return err
}

// rage is the load and the chaos, until the time is over or ctx ends. When it returns no process is left, and
// the server was killed and started once more, so that no session of theirs is left either.
func (s *soak) rage(ctx context.Context) error {
	s.began = time.Now()
	for i, p := range s.proxies {
		c := &child{dir: s.journals(), role: load.Web, cfg: load.Config{
			DSN: s.server.dsn(p.Listen, "READ-COMMITTED"), Clients: (s.clients + i) / webProcesses, Owners: owners,
			Seed: s.seed + uint64(i)<<40, Began: s.began.UnixNano(), //nolint:gosec // i is small
		}}
		switch {
		case i >= webProcesses:
			c.role, c.cfg.Clients = load.Worker, 0
		case i%2 == 1:
			c.cfg.DSN = s.server.dsn(p.Listen, "REPEATABLE-READ")
		}
		s.children = append(s.children, c)
	}
	for _, c := range s.children {
		if err := c.start(c.place(s.children)); err != nil {
			return errors.Join(err, s.killAll())
		}
	}
	limited, cancel := context.WithTimeout(ctx, s.length)
	defer cancel()
	err := s.storm(limited)
	s.length = time.Since(s.began).Round(time.Second) // SIGINT may have ended it
	return errors.Join(err, s.calm(context.WithoutCancel(ctx)))
}

// calm ends all processes: clients finish what they do, workers are killed, the server is killed and comes
// back.
func (s *soak) calm(ctx context.Context) error {
	errs := make([]error, len(s.children))
	var all sync.WaitGroup
	for i, c := range s.children {
		all.Go(func() {
			if c.role == load.Web {
				errs[i] = c.stop()
				return
			}
			errs[i] = c.kill()
			s.chaos.workerKills.Add(1)
		})
	}
	all.Wait()
	for _, p := range s.proxies {
		p.Stop()
	}
	s.chaos.serverKills.Add(1)
	return errors.Join(errors.Join(errs...), s.server.restart(ctx, 0))
}

func (s *soak) killAll() error {
	var errs []error
	for _, c := range s.children {
		if c.cmd != nil {
			errs = append(errs, c.kill())
		}
	}
	return errors.Join(errs...)
}

// settled waits until done says so, for as long as that can take and no longer.
func settled(ctx context.Context, patience time.Duration, done func() (bool, error)) (bool, error) {
	for begin := time.Now(); time.Since(begin) < patience; {
		if ok, err := done(); ok || err != nil {
			return ok, err
		}
		if !pause(ctx, 100*time.Millisecond) {
			return false, ctx.Err()
		}
	}
	return false, nil
}

// count is a query of one number.
func count(ctx context.Context, db *sql.DB, query string) (n int64, err error) {
	if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil {
		return 0, fmt.Errorf("soak: %w", err)
	}
	return n, nil
}
