package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/internal/retain"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/settings"
	"github.com/onerow/onerow/schema"
)

// Worker works the jobs of the queue that are for resources of its plan. Several may run at once, in one
// process or in many; each works Config.Parallel jobs at once and uses as many connections, and now and then
// one more. It may be used by several goroutines.
type Worker struct {
	db         *sql.DB
	plan       schema.Plan
	cfg        Config
	graphCache *graphCache
	pace       *governor.Pace
	governor   *governor.Governor
	setbacks   setbacks
	telling    sync.Mutex // one call of OnEvent at a time
	retaining  sync.Mutex // one loop uses the retainer at a time
	retainer   *retain.Retainer
	retained   time.Time    // when it was used last
	loops      atomic.Int32 // of slotted, that run
	more       atomic.Int32 // how many jobs the next claim takes, if that is more than Config.ClaimJobs
}

// NewWorker checks the plan and the configuration; it does not use the database.
// Errors: [schema.ErrInvalidPlan], [queue.ErrInvalid].
func NewWorker(db *sql.DB, plan schema.Plan, c Config) (*Worker, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	for _, n := range plan.Nodes() {
		if n.Asset != "" && c.Assets == nil {
			return nil, fmt.Errorf("%w: the column %q of %q names assets, so Assets must say how to delete them", queue.ErrInvalid, n.Asset, n.Name)
		}
	}
	throttles := governor.Throttles(c.MaxThreadsRunning, c.MaxLag, c.Replicas, c.ThrottleQueries)
	if c.Throttle != nil {
		throttles = append(throttles, governor.Throttle{Reason: c.Throttle})
	}
	g := governor.New(db, c.Name, c.Lease, throttles, c.Load)
	w := &Worker{db: db, plan: plan, cfg: c, graphCache: &graphCache{}, pace: governor.NewPace(c.Target, c.Batch), governor: g}
	w.retainer = retain.New(db, plan, w.current)
	g.Log = c.Log
	g.Loops = func() int { return int(w.loops.Load()) }
	g.Throttled = func(reason string) { w.tell(Event{Throttled: &reason}) }
	return w, nil
}

const (
	firstPause = 100 * time.Millisecond
	longPause  = 10 * time.Second
	drainTries = 10
)

// Run works the queue until ctx ends; then it ends or rolls back the current batches, gives its leases back
// and returns nil, within two seconds. Between jobs it queues what is due by the retentions of the plan, a
// step of each per second at most. A setting of the server or the session under which a
// promise cannot hold ends it at the start, see pool.Check, unless it is only that the server takes no
// writes: it may be promoted any moment. Nothing else does: errors are logged, and while the database cannot
// be reached or refuses for its own state ([queue.IsServerState]), the plan does not fit it, the switch is on
// (see admin.Pause) or a throttle has a reason it pauses, at most 15 seconds at a time.
func (w *Worker) Run(ctx context.Context) error {
	return w.parallel(ctx, w.loop)
}

// parallel runs the loops and waits for all of them.
func (w *Worker) parallel(ctx context.Context, loop func(ctx context.Context, surplus func() bool) error) error {
	ctx = w.governor.Count(ctx)
	// Another error is the loops' to meet: they wait until the server is there, and takes writes.
	switch err := settings.Check(ctx, w.db); {
	case readOnly(err):
		w.cfg.Log.WarnContext(ctx, "cascade: waits for a server that takes writes", "worker", w.cfg.Name, "error", fault.Redact(err))
	case errors.Is(err, settings.ErrSetting):
		return fmt.Errorf("cascade: %w", err)
	}
	err := w.slotted(ctx, loop)
	if err := w.governor.Gone(ctx); err != nil {
		w.cfg.Log.WarnContext(ctx, "cascade: still on the list of workers", "worker", w.cfg.Name, "error", fault.Redact(err))
	}
	return err
}

// loop is one of Run's.
func (w *Worker) loop(ctx context.Context, surplus func() bool) error {
	pause := firstPause
	for ctx.Err() == nil && !surplus() {
		if waits, err := w.governor.Idle(ctx); waits || err != nil {
			backoff.Sleep(ctx, backoff.Jitter(w.cfg.Poll))
			continue
		}
		w.retain(ctx)
		n, err := w.RunOnce(ctx)
		switch {
		case err != nil:
			w.cfg.Log.ErrorContext(ctx, "cascade: pausing", "worker", w.cfg.Name, "pause", pause, "error", fault.Redact(err))
			backoff.Sleep(ctx, backoff.Jitter(pause))
			pause = min(2*pause, longPause)
			continue
		case n == 0:
			backoff.Sleep(ctx, backoff.Jitter(w.cfg.Poll))
		}
		pause = firstPause
	}
	return nil
}

// retainEvery is how often the retentions of the plan are looked at, at most.
const retainEvery = time.Second

// retain takes a step of the plan's retentions if it is time and no other loop does.
func (w *Worker) retain(ctx context.Context) {
	if len(w.retainer.Names()) == 0 || !w.retaining.TryLock() {
		return
	}
	defer w.retaining.Unlock()
	if time.Since(w.retained) >= retainEvery {
		w.retainer.StepAll(ctx, w.cfg.Log, func(done retain.Done) {
			w.tell(Event{Retained: done.Resource, Queued: done.Queued, AllQueued: done.End})
		})
		w.retained = time.Now()
	}
}

// Drain works until no job is due. Jobs that are scheduled for later, that wait for
// their next attempt, that are paused or that another worker is running are left. While the switch is on
// or a throttle has a reason it waits. It returns an error when the database refuses ten
// rounds in a row, or the plan does not fit it, and the context's when that ends first.
func (w *Worker) Drain(ctx context.Context) error {
	return w.parallel(ctx, w.drain)
}

// drain is one of Drain's.
func (w *Worker) drain(ctx context.Context, surplus func() bool) error {
	pause := firstPause
	for failed := 0; ctx.Err() == nil; {
		if surplus() {
			return nil
		}
		waits, err := w.governor.Idle(ctx)
		seen := 0
		switch {
		case err != nil: // ctx has ended
			continue
		case waits:
			if err = w.governor.Unread(); err == nil {
				backoff.Sleep(ctx, backoff.Jitter(w.cfg.Poll))
				continue
			}
		default:
			_, seen, err = w.round(ctx)
		}
		switch {
		case err != nil:
			if failed++; failed == drainTries {
				return fmt.Errorf("cascade: drain: gave up after %d attempts: %w", failed, err)
			}
			backoff.Sleep(ctx, backoff.Jitter(pause))
			pause = min(2*pause, longPause)
		case ctx.Err() != nil:
		case seen == 0:
			return nil
		default:
			failed, pause = 0, firstPause
		}
	}
	return fmt.Errorf("cascade: drain: %w", context.Cause(ctx))
}

// How long what was begun may go on after the context ended, and how long giving
// leases back may then take. Together they are less than two seconds.
const (
	finishTime  = time.Second
	releaseTime = 500 * time.Millisecond
)

// finishing is a context that ends finishTime after ctx does, so that a batch that
// was begun can be ended.
func finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(finishTime, func() { cancel(context.Cause(ctx)) })
	})
	return late, func() {
		stop()
		cancel(nil)
	}
}
