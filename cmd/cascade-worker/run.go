package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cmd/cascade-worker/internal/output"
	"github.com/onerow/onerow/cmd/cascade-worker/internal/page"
	"github.com/onerow/onerow/internal/retention"
	"github.com/onerow/onerow/schema"
)

// workFlags are part of the commands that work the queue.
type workFlags struct {
	planFlag
	assetsFlag
	throttleFlags
	Batch     int           `default:"5000" placeholder:"ROWS" help:"Rows that one transaction deletes at most (5000); it begins with fewer, and keeps to --target."`
	Target    time.Duration `default:"50ms" placeholder:"TIME" help:"How long a transaction should take (50ms)."`
	Parallel  int           `default:"1" placeholder:"JOBS" help:"Jobs that are worked at once (1)."`
	Lease     time.Duration `default:"10s" placeholder:"TIME" help:"How long a job stays reserved after a worker's last sign of life (10s)."`
	Name      string        `placeholder:"NAME" help:"The worker's name in jobs and logs (host name and process id)."`
	LogFormat string        `enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json."`
}

// What is shorter would ask the database all the time, or lose every job.
const (
	shortestLease = 100 * time.Millisecond
	shortestPoll  = 10 * time.Millisecond
)

// longestTarget is the longest time that a batch may be meant to take; a lease is renewed between two.
const longestTarget = 5 * time.Second

// maxParallel jobs in one process; there may be more processes.
const maxParallel = 64

func (f workFlags) check(a *app) error {
	switch {
	case f.Batch < 1:
		return usagef("--batch is %d; it should be 1 or more rows", f.Batch)
	case f.Target < time.Millisecond || f.Target > longestTarget:
		return usagef("--target is %s; it should be a time like 50ms, from 1ms to %s: a batch holds its locks for so long", f.Target, longestTarget)
	case f.Parallel < 1 || f.Parallel > maxParallel:
		return usagef("--parallel is %d; it should be from 1 to %d jobs", f.Parallel, maxParallel)
	case f.Lease < shortestLease:
		return usagef("--lease is %s; it should be a time like 10s, %s or more", f.Lease, shortestLease)
	}
	return f.throttleFlags.check(a)
}

type runCmd struct {
	workFlags
	httpFlags
	keepFlags
	orphansFlag
	Poll    time.Duration `placeholder:"TIME" help:"How long an idle worker waits before it looks again (1s)."`
	NoPurge bool          `help:"Do not purge the toolkit's own tables in the background; --keep-… say what is kept how long."`
}

// Help is the command's longer description.
func (runCmd) Help() string {
	return `Works jobs as they become due, any number of workers side by side. SIGTERM or
Ctrl-C ends the current batch, gives the job back and exits with 0 within two
seconds; a second signal ends the process at once. Logs go to standard error.

What is more important comes first: the worker waits, with what it has, while the command
pause is in force, while the server or its replicas have too much to do (--max-threads-running,
--max-lag), or while a query of yours says so (--throttle-query). It asks once per second. If
one of these cannot be asked, it waits as well. The command workers shows which reason is in
force. --max-lag needs the privilege REPLICATION CLIENT on the replicas (SLAVE MONITOR on
MariaDB since 10.5).

Between jobs it purges the toolkit's own tables as the command purge does, a batch each
second at most. Its user needs the rights of purge for that; without them it says so, and works.
Where the plan says retention, it queues the rows that are old enough, a little each second, see
the command retention.
With --orphans-every it searches as the command orphans does, and logs and counts what it finds.

Examples:

    cascade-worker run --plan plan.yaml
    cascade-worker run --plan plan.yaml --assets file:///var/lib/shop/files --log-format json
    cascade-worker run --plan plan.yaml --parallel 4 --max-threads-running 20 --load 0.5
    ONEROW_REPLICAS='mysql://monitor:password@replica:3306/shop' cascade-worker run --max-lag 10s
    cascade-worker run --throttle-query "SELECT IF(HOUR(UTC_TIME()) IN (11, 12), 'lunch', '')"
    cascade-worker run --plan plan.yaml --http :9090`
}

// Run works until ctx ends.
func (c *runCmd) Run(ctx context.Context, a *app) (err error) {
	if c.Poll != 0 && c.Poll < shortestPoll {
		return usagef("--poll is %s; it should be a time like 1s, %s or more", c.Poll, shortestPoll)
	}
	if err := c.orphansFlag.check(); err != nil {
		return err
	}
	kinds, err := c.kinds()
	if err != nil {
		return err
	}
	log := logger(a.stderr, c.LogFormat, slog.LevelInfo)
	op, err := a.operator(c.httpFlags, log)
	if err != nil {
		return err
	}
	config := cascade.Config{Poll: c.Poll, Log: log}
	slowly := &retention.Slowly{Kinds: kinds, Log: log}
	orphans := &orphanWatch{log: log, found: func(int) {}}
	if op != nil {
		config.Observer = op.Metrics
		op.Metrics.Kinds, slowly.Purged, orphans.found = kinds, op.Metrics.PurgedRows, op.Metrics.Orphans
	}
	var retainer *cascade.Retainer
	config.Chore = func(ctx context.Context, db *sql.DB) {
		if !c.NoPurge {
			slowly.Step(ctx, db)
		}
		retainer.Chore(ctx, log)
	}
	w, err := a.worker(ctx, c.workFlags, config)
	if err != nil {
		return stopped(ctx, err)
	}
	defer func() { err = errors.Join(err, w.close()) }()
	log.Info("working", "worker", w.name, "database", w.database, "resources", w.plan.Names(), "version", versionLine())
	slowly.Kinds = append(slowly.Kinds, w.trashKind()...)
	if retainer, err = cascade.NewRetainer(w.db, w.plan); err != nil {
		return err
	}
	orphans.db, orphans.plan, orphans.every = w.db, w.plan, c.every(w.plan)
	if err := op.Run(ctx, w.onPage(), orphans.beside(w.Run)); err != nil {
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
		return slog.New(slog.NewJSONHandler(output.JSONWriter{Out: w}, options))
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
	assets   cascade.Assets
	close    func() error
}

// trashKind is what has expired in the trash, where the plan keeps any.
func (w *working) trashKind() []retention.Kind {
	if len(w.plan.Kept()) == 0 {
		return nil
	}
	return []retention.Kind{{Name: "trash", Tables: "onerow_trash, onerow_trash_…", Purge: func(ctx context.Context, db onerow.DB, limit int) (int64, error) {
		return cascade.PurgeTrash(ctx, db, w.plan, w.assets, limit)
	}}}
}

// Connections of a worker: for each job it works, and for its throttles, its sign of life
// and the page.
const (
	connsPerJob = 2
	otherConns  = 6
)

// worker makes the worker of run and drain, and sees that the database is fit for it.
func (a *app) worker(ctx context.Context, f workFlags, c cascade.Config) (*working, error) {
	if err := f.check(a); err != nil {
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
	throttles, closeReplicas, err := a.throttles(f.throttleFlags)
	if err != nil {
		return nil, errors.Join(err, closeAssets())
	}
	db, err := a.openMigrated(ctx)
	if err != nil {
		return nil, errors.Join(err, closeReplicas(), closeAssets())
	}
	roomFor(db, max(f.Parallel, 1))
	c.OnParallel = func(n int) { roomFor(db, n) }
	w := &working{db: db, plan: plan, name: workerName(f.Name), database: a.database(), assets: assets}
	w.close = func() error { return errors.Join(closeAssets(), closeReplicas(), db.Close()) }
	c.Batch, c.Lease, c.Name, c.Assets = f.Batch, f.Lease, w.name, assets
	c.Target, c.Parallel, c.Load, c.Throttles = f.Target, f.Parallel, f.Load, throttles
	if err = errors.Join(fit(ctx, db, plan), f.ask(ctx, db)); err == nil {
		w.Worker, err = cascade.NewWorker(db, plan, c)
		if errors.Is(err, cascade.ErrInvalidConfig) {
			err = usage(err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// roomFor makes the pool large enough for so many jobs at once.
func roomFor(db *sql.DB, jobs int) {
	conns := otherConns + connsPerJob*jobs
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns) // of those that batches come back to, database/sql would keep two and open the others each time
}

// unfit says why a database is none to work on.
type unfit string

func (u unfit) Error() string { return string(u) + ": run " + programName + " verify" }

// fit refuses a database that is not as the plan declares it, or that does not let the
// worker do what it will have to.
func fit(ctx context.Context, db *sql.DB, plan schema.Plan) error {
	if err := declared(ctx, db, plan); err != nil {
		return err
	}
	access, err := schema.VerifyPrivileges(ctx, db, plan)
	if err == nil && len(access.Missing) > 0 {
		return unfit(fmt.Sprintf("the database user %s lacks rights on %s", access.User, output.Plural(len(access.Missing), "table")))
	}
	return err
}

// declared refuses a database that is not as the plan declares it.
func declared(ctx context.Context, db *sql.DB, plan schema.Plan) error {
	err := schema.Verify(ctx, db, plan)
	var differs *schema.VerifyError
	if errors.As(err, &differs) {
		return unfit("the database is not as the plan declares it, in " + output.Plural(len(differs.Differences), "point"))
	}
	return err
}

// onPage is the worker as its page shows it.
func (w *working) onPage() page.Worker {
	return page.Worker{DB: w.db, Plan: w.plan, Name: w.name, Database: w.database, Unready: func(ctx context.Context) []string { return unready(ctx, w.db, w.plan) },
		Key: w.key, Enqueue: func(ctx context.Context, resource, typed string, d cascade.Deletion) (string, error) {
			root, err := w.root(ctx, resource, typed)
			if err != nil {
				return "", err
			}
			return queue(ctx, w.db, w.plan, root, d)
		}}
}

// root is a row that somebody has typed on the page.
func (w *working) root(ctx context.Context, resource, typed string) (rootRow, error) {
	root, err := typedRoot(w.plan, resource, typed)
	if err == nil {
		err = root.encode(ctx, w.db)
	}
	return root, err
}

func (w *working) key(ctx context.Context, resource, typed string) (string, error) {
	root, err := w.root(ctx, resource, typed)
	return root.key, err
}

// unready says why a worker cannot work. It sends what schema.Verify and migrations.Status document.
func unready(ctx context.Context, db *sql.DB, plan schema.Plan) []string {
	missing, err := pending(ctx, db)
	switch {
	case err != nil:
		return []string{"the toolkit's tables cannot be read"}
	case missing > 0:
		return []string{fmt.Sprintf("%s not applied: run %s migrate up", output.Plural(missing, "migration"), programName)}
	}
	err = declared(ctx, db, plan)
	var why unfit
	switch {
	case errors.As(err, &why):
		return []string{why.Error()}
	case err != nil:
		return []string{"the database cannot be compared with the plan"}
	}
	return nil
}

// explained puts before an error why the database is not as the plan declares it, if that
// is so: what fails then, and how, says little about what to do.
func explained(ctx context.Context, db *sql.DB, plan schema.Plan, err error) error {
	var why unfit
	if err == nil || ctx.Err() != nil || errors.Is(err, errUsage) || !errors.As(declared(ctx, db, plan), &why) {
		return err
	}
	return errors.Join(why, err)
}

// database says where the worker works, without a password.
func (a *app) database() string {
	cfg, err := parseDSN(a.dsn)
	if err != nil {
		return ""
	}
	return address(cfg) + "/" + output.Printable(cfg.DBName)
}
