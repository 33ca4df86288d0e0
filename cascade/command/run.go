package command

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/internal/retention"
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

// shortestLease: a shorter one would lose every job.
const shortestLease = 100 * time.Millisecond

func (f workFlags) check(a *app) error {
	switch {
	case f.Batch < 1:
		return usage.Errorf("--batch is %d; it should be 1 or more rows", f.Batch)
	case f.Target < time.Millisecond || f.Target > longestTarget:
		return usage.Errorf("--target is %s; it should be a time like 50ms, from 1ms to %s: a batch holds its locks for so long", f.Target, longestTarget)
	case f.Parallel < 1 || f.Parallel > maxParallel:
		return usage.Errorf("--parallel is %d; it should be from 1 to %d jobs", f.Parallel, maxParallel)
	case f.Lease < shortestLease:
		return usage.Errorf("--lease is %s; it should be a time like 10s, %s or more", f.Lease, shortestLease)
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
		return usage.Errorf("--poll is %s; it should be a time like 1s, %s or more", c.Poll, shortestPoll)
	}
	if err := c.orphansFlag.check(); err != nil {
		return err
	}
	kinds, err := c.kinds()
	if err != nil {
		return err
	}
	log := logger(a.stderr, c.LogFormat, slog.LevelInfo)
	op, err := operator(a, c.httpFlags, log)
	if err != nil {
		return err
	}
	config := cascade.Config{Poll: c.Poll, Log: log}
	slowly := &retention.Slowly{Kinds: kinds, Log: log}
	orphans := &orphanWatch{log: log, found: func(int) {}}
	retained := func(string, cascade.Retained) {}
	if op != nil {
		config.Observer = op.metrics
		op.metrics.Kinds, slowly.Purged, orphans.found = kinds, op.metrics.PurgedRows, op.metrics.Orphans
		retained = op.metrics.Retained
	}
	var retainer *cascade.Retainer
	config.Chore = func(ctx context.Context, db *sql.DB) {
		if !c.NoPurge {
			slowly.Step(ctx, db)
		}
		retainer.Chore(ctx, log, retained)
	}
	w, err := newWorker(ctx, a, c.workFlags, config)
	if err != nil {
		return stopped(ctx, err)
	}
	defer func() { err = errors.Join(err, w.close()) }()
	log.Info("working", "worker", w.name, "database", w.database, "resources", w.plan.Names(), "version", a.versionLine())
	slowly.Kinds = append(slowly.Kinds, w.trashKind()...)
	if retainer, err = cascade.NewRetainer(w.db, w.plan); err != nil {
		return err
	}
	orphans.db, orphans.plan, orphans.every = w.db, w.plan, c.every(w.plan)
	if err := op.run(ctx, w, orphans.beside(w.Run)); err != nil {
		return err
	}
	log.Info("stopped", "worker", w.name)
	return nil
}

func logger(w io.Writer, format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(output.JSONWriter{Out: w}, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
