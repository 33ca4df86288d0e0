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

	"github.com/onerow/onerow/proof/soak/check"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/proof/soak/journal"
	"github.com/onerow/onerow/proof/soak/load"
)

const owners = 8

// soak is one run.
type soak struct {
	options
	dir    string
	out    io.Writer
	log    *slog.Logger
	length time.Duration // of the chaos: as planned, then as it was

	site     site
	proxies  []*proxy // one for each process, or with -hosts for each node
	children []*child // the web processes, then the workers
	chaos    chaos
	began    time.Time
}

func (s *soak) journals() string { return filepath.Join(s.dir, "journals") }

// run is the whole soak. broken says which promises are, "" that none is.
func (s *soak) run(ctx context.Context) (broken string, err error) {
	if err := say(s.out, "soak: seed %d, %v, %d clients in %d processes, %d workers", s.seed, s.length, s.clients, s.webs, s.workers); err != nil {
		return "", err
	}
	if err := s.setUp(ctx); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.site.close()) }()
	if err := say(s.out, "soak: %s, private and durable", s.site.name()); err != nil {
		return "", err
	}
	if err := s.rage(ctx); err != nil {
		return "", err
	}
	return s.check(context.WithoutCancel(ctx)) // whatever ended the chaos, the check is made
}

// check drains what is left and reads all tables, on one server and then on the others.
func (s *soak) check(ctx context.Context) (broken string, err error) {
	db, err := s.site.open()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := s.drain(ctx, db); err != nil {
		return "", err
	}
	entries, err := journal.Read(s.journals())
	if err != nil {
		return "", err
	}
	found, err := check.Run(ctx, db, journal.Forget(entries, s.site.deaths()))
	if err != nil {
		return "", err
	}
	differ, err := s.site.differ(ctx)
	if err != nil {
		return "", err
	}
	jobs, err := readWork(ctx, db)
	if err != nil {
		return "", err
	}
	err = s.report(entries, found, differ, jobs)
	switch {
	case s.kind == async:
		return "", errors.Join(err, lostNothing(found))
	case len(found)+len(differ) > 0:
		first := append(texts(found), differ...)[0]
		err = errors.Join(err, s.site.keep(ctx, filepath.Join(s.dir, "tables")))
		return fmt.Sprintf("%d broken promises, the first: %s", len(found)+len(differ), first), err
	case err != nil:
		return "", err
	}
	return "", errors.Join(unshown(entries, jobs), s.untroubled())
}

// setUp starts the server and makes the tables and the proxies.
func (s *soak) setUp(ctx context.Context) (err error) {
	if err := os.Mkdir(s.journals(), 0o700); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	engine := s.engine
	switch s.kind {
	case galera:
		err = chooseGalera(ctx)
	case group:
		engine = "mysql"
	}
	if err := errors.Join(err, fuzz.ChooseEngine(ctx, engine)); err != nil {
		return err
	}
	if s.site, err = s.newSite(); err != nil {
		return err
	}
	if err := s.site.start(ctx); err != nil {
		return errors.Join(err, s.site.close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.site.close())
		}
	}()
	db, err := s.site.open()
	if err != nil {
		return err
	}
	if err := errors.Join(load.CreateTables(ctx, db, s.everyNodeWrites(), owners), db.Close()); err != nil {
		return err
	}
	links := s.webs + s.workers
	if s.hosts {
		links = s.site.nodes()
	}
	if s.proxies, err = newProxies(links, s.site.upstream(0)); err != nil {
		return err
	}
	return s.route()
}

// newSite is what the load will run on.
func (s *soak) newSite() (site, error) {
	dir := filepath.Join(s.dir, "server")
	switch s.kind {
	case galera, group:
		return newCluster(s), nil
	case semisync, async:
		return newReplicas(s, dir)
	}
	return single{&server{dir: dir, engine: s.engine, log: s.log}}, nil
}

// rage is the load and the chaos, until the time is over or ctx ends. When it returns no process is left, and
// the site was settled, so that no session of theirs is left either.
func (s *soak) rage(ctx context.Context) error {
	s.began = time.Now()
	for i := range s.webs + s.workers {
		c := &child{dir: s.journals(), role: load.Web, cfg: load.Config{
			DSN: s.dsn(i, "READ-COMMITTED"), Clients: (s.clients + i) / s.webs, Owners: owners, Several: s.kind != "", Cluster: s.everyNodeWrites(),
			Seed: s.seed + uint64(i)<<40, Began: s.began.UnixNano(), //nolint:gosec // i is small
		}}
		switch {
		case i >= s.webs:
			c.role, c.cfg.Clients = load.Worker, 0
		case i%2 == 1:
			c.cfg.DSN = s.dsn(i, "REPEATABLE-READ")
		}
		s.children = append(s.children, c)
	}
	for _, c := range s.children {
		if err := c.start(c.place(s.children)); err != nil {
			return errors.Join(err, s.killAll())
		}
	}
	err := s.storms(ctx)
	s.length = time.Since(s.began).Round(time.Second) // SIGINT may have ended it
	return errors.Join(err, s.calm(context.WithoutCancel(ctx)))
}

// maxStorms is how many times as long as planned the chaos takes at most.
const maxStorms = 4

// storms is the chaos for as long as planned, and again where an operation was not acknowledged by then: what
// half a minute does depends on what else the machine has to do.
func (s *soak) storms(ctx context.Context) error {
	for range maxStorms {
		limited, cancel := context.WithTimeout(ctx, s.length)
		err := s.storm(limited)
		cancel()
		if err != nil || ctx.Err() != nil {
			return err
		}
		entries, err := journal.Read(s.journals())
		if err != nil {
			return err
		}
		op := missing(entries)
		if op == "" {
			return nil
		}
		if err := say(s.out, "soak: no %q was acknowledged yet: the chaos goes on", op); err != nil {
			return err
		}
	}
	return nil
}

// calm ends all processes: clients finish what they do, workers are killed, a server is killed and comes
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
	return errors.Join(errors.Join(errs...), s.site.settle(ctx, s))
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
