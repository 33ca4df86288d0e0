// Package daemon has the commands that work the queue: run, with its page and its metrics, and drain.
//
// Open this package when the process starts, stops or serves in another way.
package daemon

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/command/internal/lost"
	"github.com/onerow/onerow/cascade/command/internal/operate"
	"github.com/onerow/onerow/cascade/command/internal/ownrows"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
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

// Validate refuses what no worker could do.
func (f WorkFlags) Validate() error {
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
	return nil
}

// Run works the queue until its context ends.
type Run struct {
	WorkFlags
	HTTPFlags
	ownrows.Keep
	lost.WatchFlag
	Poll    time.Duration `placeholder:"TIME" help:"How long an idle worker waits before it looks again (1s)."`
	NoPurge bool          `help:"Do not purge the toolkit's own tables in the background; --keep-… say what is kept how long."`
}

// Validate refuses to look all the time.
func (c *Run) Validate() error {
	if c.Poll != 0 && c.Poll < shell.ShortestPoll {
		return usage.Errorf("--poll is %s; it should be a time like 1s, %s or more", c.Poll, shell.ShortestPoll)
	}
	return nil
}

// Run works until ctx ends.
func (c *Run) Run(ctx context.Context, a *shell.App, plan schema.Plan) error {
	kinds, err := c.Kinds()
	if err != nil {
		return err
	}
	log := Logger(a.Stderr, c.LogFormat, slog.LevelInfo)
	op, err := Operator(a, c.HTTPFlags, log)
	if err != nil {
		return err
	}
	slowly := &ownrows.Slowly{Kinds: kinds, Log: log}
	orphans := &lost.Watch{Log: log, Found: func(int) {}}
	count := func(cascade.Event) {}
	if op != nil {
		op.Metrics.Kinds, slowly.Purged, orphans.Found, count = kinds, op.Metrics.PurgedRows, op.Metrics.Orphans, op.Metrics.Observe
	}
	var waits atomic.Bool // the worker, for more than its share of the time
	w, err := NewWorker(ctx, a, plan, c.WorkFlags, cascade.Config{Poll: c.Poll, Log: log, OnEvent: func(e cascade.Event) {
		if why := e.Throttled; why != nil {
			waits.Store(*why != "" && governor.KindOf(*why) != "load")
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
