package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/schema"
)

// workFlags are part of the commands that work the queue.
type workFlags struct {
	planFlag
	assetsFlag
	Batch     int           `placeholder:"ROWS" help:"Rows that one transaction deletes at most (1000)."`
	Lease     time.Duration `placeholder:"TIME" help:"How long a job stays reserved after a worker's last sign of life (10s)."`
	Name      string        `placeholder:"NAME" help:"The worker's name in jobs and logs (host name and process id)."`
	LogFormat string        `enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json."`
}

func (f workFlags) check() error {
	switch {
	case f.Batch < 0:
		return usagef("--batch is %d; it should be 1 or more rows", f.Batch)
	case f.Lease < 0:
		return usagef("--lease is %s; it should be a time like 10s", f.Lease)
	}
	return nil
}

type runCmd struct {
	workFlags
	Poll time.Duration `placeholder:"TIME" help:"How long an idle worker waits before it looks again (1s)."`
}

// Help is the command's longer description.
func (runCmd) Help() string {
	return `Works jobs as they become due, any number of workers side by side. SIGTERM or
Ctrl-C ends the current batch, gives the job back and exits with 0 within two
seconds; a second signal ends the process at once. Logs go to standard error.

Examples:

    cascade-worker run --plan plan.yaml
    cascade-worker run --plan plan.yaml --assets file:///var/lib/shop/files --log-format json`
}

// Run works until ctx ends.
func (c *runCmd) Run(ctx context.Context, a *app) (err error) {
	if c.Poll < 0 {
		return usagef("--poll is %s; it should be a time like 1s", c.Poll)
	}
	log := logger(a.stderr, c.LogFormat, slog.LevelInfo)
	w, err := a.worker(ctx, c.workFlags, cascade.Config{Poll: c.Poll, Log: log})
	if err != nil {
		return stopped(ctx, err)
	}
	defer func() { err = errors.Join(err, w.close()) }()
	log.Info("working", "worker", w.name, "database", w.database, "resources", w.plan.Names(), "version", versionLine())
	if err := w.Run(ctx); err != nil {
		return err
	}
	log.Info("stopped", "worker", w.name)
	return nil
}

// stopped: a signal before the first job is a clean stop as well.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

func logger(w io.Writer, format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// working is a worker and what it was made from.
type working struct {
	*cascade.Worker
	db       *sql.DB
	plan     schema.Plan
	name     string
	database string
	close    func() error
}

// worker makes the worker of run and drain, and sees that the database is fit for it.
func (a *app) worker(ctx context.Context, f workFlags, c cascade.Config) (*working, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	plan, err := a.plan(f.planFlag)
	if err != nil {
		return nil, err
	}
	assets, closeAssets, err := a.assets(ctx, f.assetsFlag, plan)
	if err != nil {
		return nil, err
	}
	db, err := a.openMigrated(ctx)
	if err != nil {
		return nil, errors.Join(err, closeAssets())
	}
	w := &working{db: db, plan: plan, name: workerName(f.Name), database: a.database()}
	w.close = func() error { return errors.Join(closeAssets(), db.Close()) }
	c.Batch, c.Lease, c.Name, c.Assets = f.Batch, f.Lease, w.name, assets
	if err = fit(ctx, db, plan); err == nil {
		w.Worker, err = cascade.NewWorker(db, plan, c)
		if errors.Is(err, cascade.ErrConfig) {
			err = usage(err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// fit refuses a database that is not as the plan declares it.
func fit(ctx context.Context, db *sql.DB, plan schema.Plan) error {
	err := schema.Verify(ctx, db, plan)
	var differs *schema.VerifyError
	if !errors.As(err, &differs) {
		return err
	}
	return fmt.Errorf("the database is not as the plan declares it, in %d points: run %s verify", len(differs.Differences), programName)
}

// database says where the worker works, without a password.
func (a *app) database() string {
	cfg, err := parseDSN(a.dsn)
	if err != nil {
		return ""
	}
	return address(cfg) + "/" + printable(cfg.DBName)
}
