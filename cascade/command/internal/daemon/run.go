// Package daemon has the commands that work the queue: run, with its page and its metrics, and drain.
package daemon

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/command/internal/age"
	"github.com/onerow/onerow/cascade/command/internal/lost"
	"github.com/onerow/onerow/cascade/command/internal/operate"
	"github.com/onerow/onerow/cascade/command/internal/retention"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
)

// WorkFlags are part of the commands that work the queue.
type WorkFlags struct {
	shell.PlanFlag
	shell.AssetsFlag
	shell.ThrottleFlags
	Batch     int           `default:"5000" placeholder:"ROWS" help:"Rows that one transaction deletes at most (5000); it begins with fewer, and keeps to --target."`
	Target    time.Duration `default:"50ms" placeholder:"TIME" help:"How long a transaction should take (50ms)."`
	Parallel  int           `default:"1" placeholder:"JOBS" help:"Jobs that are worked at once (1)."`
	Lease     time.Duration `default:"10s" placeholder:"TIME" help:"How long a job stays reserved after a worker's last sign of life (10s)."`
	Name      string        `placeholder:"NAME" help:"The worker's name in jobs and logs (host name and process id)."`
	LogFormat string        `enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json."`
}

// shortestLease: a shorter one would lose every job.
const shortestLease = 100 * time.Millisecond

func (f WorkFlags) check(a *shell.App) error {
	switch {
	case f.Batch < 1:
		return usage.Errorf("--batch is %d; it should be 1 or more rows", f.Batch)
	case f.Target < time.Millisecond || f.Target > operate.LongestTarget:
		return usage.Errorf("--target is %s; it should be a time like 50ms, from 1ms to %s: a batch holds its locks for so long", f.Target, operate.LongestTarget)
	case f.Parallel < 1 || f.Parallel > operate.MaxParallel:
		return usage.Errorf("--parallel is %d; it should be from 1 to %d jobs", f.Parallel, operate.MaxParallel)
	case f.Lease < shortestLease:
		return usage.Errorf("--lease is %s; it should be a time like 10s, %s or more", f.Lease, shortestLease)
	}
	return f.CheckThrottles(a)
}

// Run works the queue until its context ends.
type Run struct {
	WorkFlags
	HTTPFlags
	age.KeepFlags
	lost.WatchFlag
	Poll    time.Duration `placeholder:"TIME" help:"How long an idle worker waits before it looks again (1s)."`
	NoPurge bool          `help:"Do not purge the toolkit's own tables in the background; --keep-… say what is kept how long."`
}

// Help is the command's longer description.
func (Run) Help() string {
	return `Works jobs as they become due, any number of workers side by side. SIGTERM or
Ctrl-C ends the current batch, gives the job back and exits with 0 within two
seconds; a second signal ends the process at once. Logs go to standard error.

What is more important comes first: the worker waits, with what it has, while the command
pause is in force, while the server or its replicas have too much to do (--max-threads-running,
--max-lag), or while a query of yours says so (--throttle-query). It asks once per second. If
one of these cannot be asked, it waits as well. The command workers shows which reason is in
force. --max-lag needs the privilege REPLICATION CLIENT on the replicas (SLAVE MONITOR on
MariaDB since 10.5).

Beside that it purges the toolkit's own tables as the command purge does, a batch each
second at most, and none while it waits. Its user needs the rights of purge for that; without them it says so, and works.
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
func (c *Run) Run(ctx context.Context, a *shell.App) error {
	if c.Poll != 0 && c.Poll < shell.ShortestPoll {
		return usage.Errorf("--poll is %s; it should be a time like 1s, %s or more", c.Poll, shell.ShortestPoll)
	}
	if err := c.CheckWatch(); err != nil {
		return err
	}
	kinds, err := c.Kinds()
	if err != nil {
		return err
	}
	log := Logger(a.Stderr, c.LogFormat, slog.LevelInfo)
	op, err := Operator(a, c.HTTPFlags, log)
	if err != nil {
		return err
	}
	slowly := &retention.Slowly{Kinds: kinds, Log: log}
	orphans := &lost.Watch{Log: log, Found: func(int) {}}
	count := func(cascade.Event) {}
	if op != nil {
		op.Metrics.Kinds, slowly.Purged, orphans.Found, count = kinds, op.Metrics.PurgedRows, op.Metrics.Orphans, op.Metrics.Observe
	}
	var waits atomic.Bool // the worker, for more than its share of the time
	w, err := NewWorker(ctx, a, c.WorkFlags, cascade.Config{Poll: c.Poll, Log: log, OnEvent: func(e cascade.Event) {
		if t, ok := e.(cascade.Throttled); ok {
			waits.Store(t.Reason != "" && governor.KindOf(t.Reason) != "load")
		}
		count(e)
	}})
	if err != nil {
		return shell.Stopped(ctx, err)
	}
	log.Info("working", "worker", w.Name, "database", w.Database, "resources", w.Plan.Names(), "version", a.VersionLine())
	slowly.Kinds = append(slowly.Kinds, w.trashKind()...)
	orphans.DB, orphans.Plan, orphans.Every = w.DB, w.Plan, c.Every(w.Plan)
	work := shell.Beside(w.Run, orphans.Run)
	if !c.NoPurge {
		work = shell.Beside(work, func(ctx context.Context) { slowly.Run(ctx, w.DB, waits.Load) })
	}
	if err := op.run(ctx, w, work); err != nil {
		return err
	}
	log.Info("stopped", "worker", w.Name)
	return nil
}

// Logger makes a log of lines, or of JSON that a terminal cannot obey.
func Logger(w io.Writer, format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(output.JSONWriter{Out: w}, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
