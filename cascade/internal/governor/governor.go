// Package governor makes a worker wait. The [Governor] asks once a second whether there is more important
// work: the switch of admin.Pause, and the throttles of the configuration; it hears what else operators
// say, see [Control]; and it keeps the worker on the list that admin.Workers shows. The [Pace] is how
// many rows a batch may have: as many as have lately fit into the time that a batch should take.
//
// Open this package when a worker waits for too long, or is in the way of others.
package governor

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/internal/dbtext"
)

// How often a governor asks and writes at most.
const (
	AskEvery   = time.Second     // the pause switch and the throttles
	askAgain   = 5 * time.Second // a throttle that could not be asked
	askTime    = 2 * time.Second // how long asking may take altogether, and a quarter of the lease
	minAskTime = 100 * time.Millisecond
	beatEvery  = 5 * time.Second  // the worker's row
	busyEvery  = time.Second      // of a worker that sends much, for others want to know how much
	tidyEvery  = 10 * time.Minute // the rows of workers that are gone
	tidyAgain  = time.Minute      // if that failed
	waitStep   = time.Second
	shortestIn = time.Millisecond
	goneTime   = 500 * time.Millisecond // how long leaving the list may take
)

// Governor makes a worker wait: between batches for its share of the time, and as long
// as it is paused or a throttle has a reason. It keeps the worker's row in onerow_worker
// while it is at it. It may be used by all goroutines of a worker.
type Governor struct {
	db        *sql.DB
	name      string
	lease     time.Duration
	load      float64 // 0: by itself
	throttles []Throttle
	Log       *slog.Logger        // what it waits for; nothing by default
	Loops     func() int          // how many jobs are worked at once
	Throttled func(reason string) // told why the worker waits from now on; "" that it does not

	control atomic.Pointer[Control]

	unread atomic.Pointer[error] // why the switch could not be read when it was asked last

	turn chan struct{} // holds one token: who has it may use what follows

	asked   time.Time
	reason  string        // of the switch or a throttle, as it was asked last
	rests   []time.Time   // until when a throttle that failed is not asked again
	failed  []string      // what it said then
	told    string        // to Throttled
	worked  time.Time     // when a batch was last waited for
	job     sql.NullInt64 // of that batch
	beaten  time.Time     // when the worker's row was written last, or was to be
	written string        // the reason then
	listed  bool          // the row is there
	tidied  time.Time
	others  others
}

// New makes the governor of a worker, which finds the share of the time by itself if load is 0.
func New(db *sql.DB, name string, lease time.Duration, throttles []Throttle, load float64) *Governor {
	g := &Governor{db: db, name: name, lease: max(lease, shortestIn), load: load, throttles: throttles,
		Log: slog.New(slog.DiscardHandler), Loops: func() int { return 1 }, Throttled: func(string) {}, turn: make(chan struct{}, 1)}
	g.rests, g.failed = make([]time.Time, len(throttles)), make([]string, len(throttles))
	g.turn <- struct{}{}
	return g
}

// Wait is called after a batch that took so long. It returns when the next one may begin: after the pause
// that Config.Load asks for, or the others who use the server, and when neither the switch nor a throttle
// has a reason against it. While it waits it renews the lease of the job, three times per lease. The error
// is renew's, or that of ctx. Usually it takes no statement; 1 each second, 2 each second for what others
// do, 4 if that is something, and 1 for the worker's row each 5 seconds, or each second if it sends much.
func (g *Governor) Wait(ctx context.Context, job int64, took time.Duration, renew func(context.Context) error) error {
	renewed := time.Now()
	keep := func(d time.Duration) error {
		for until := time.Now().Add(d); ; {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if time.Since(renewed) >= g.lease/3 { // also before the first pause: asking takes time
				if err := renew(ctx); err != nil {
					return err
				}
				renewed = time.Now()
			}
			left := time.Until(until)
			if left <= 0 {
				return nil
			}
			backoff.Sleep(ctx, min(left, waitStep, g.lease/3))
		}
	}
	if rest := g.rest(took); rest > 0 {
		if err := keep(rest); err != nil {
			return err
		}
	}
	for {
		reason, err := g.Look(ctx, sql.NullInt64{Int64: job, Valid: true})
		if err != nil || reason == "" {
			return err
		}
		if err := keep(waitStep); err != nil {
			return err
		}
	}
}

// Idle is called by a worker before it claims jobs. paused says that it should not: the switch is on, or a
// throttle has a reason, and what is claimed now would only be kept from others. Statements as for Wait.
func (g *Governor) Idle(ctx context.Context) (paused bool, err error) {
	reason, err := g.Look(ctx, sql.NullInt64{})
	return reason != "", err
}

// Unread is why the switch could not be read when it was asked last, or nil.
func (g *Governor) Unread() error {
	if err := g.unread.Load(); err != nil {
		return *err
	}
	return nil
}

// Look asks, if it is time, and shows the answer. The error is that of ctx.
func (g *Governor) Look(ctx context.Context, job sql.NullInt64) (string, error) {
	select {
	case <-ctx.Done():
	case <-g.turn:
		defer func() { g.turn <- struct{}{} }()
	}
	if ctx.Err() != nil { // of two that are ready, select takes either
		return "", context.Cause(ctx)
	}
	if time.Since(g.asked) >= AskEvery {
		reason := g.ask(ctx)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		g.reason, g.asked = reason, time.Now()
	}
	g.feel(ctx)
	shown := g.reason
	if shown == "" && job.Valid {
		shown = g.shared()
	}
	if shown != g.told {
		g.Throttled(shown)
		g.note(ctx, shown)
		g.told = shown
	}
	if job.Valid || time.Since(g.worked) >= beatEvery {
		g.job = job // of several jobs at once it shows the last, and not that a claimer looks for more
	}
	if job.Valid {
		g.worked = time.Now()
	}
	every := beatEvery
	if g.others.busy {
		every = busyEvery
	}
	if g.beaten.IsZero() || g.reason != g.written || time.Since(g.beaten) >= every {
		g.Beat(ctx, shown)
	}
	return g.reason, nil
}

// note logs that the worker waits from now on, or goes on. Another text of the same kind
// is not told again, for it may change each second; a share of the time is no waiting.
func (g *Governor) note(ctx context.Context, shown string) {
	before, now := KindOf(g.told), KindOf(shown)
	switch {
	case before == now || before == kindLoad && now == "" || before == "" && now == kindLoad:
	case now == "" || now == kindLoad:
		g.Log.InfoContext(ctx, "cascade: goes on", "worker", g.name, "waited", g.told)
	default:
		g.Log.WarnContext(ctx, "cascade: waits", "worker", g.name, "reason", shown)
	}
}

// patience is how long an answer is waited for, so that no lease ends meanwhile.
func (g *Governor) patience() time.Duration { return min(askTime, max(g.lease/4, minAskTime)) }

// ask returns the first reason against work: of the switch, then of the throttles in
// their order. That one of them cannot be asked is a reason, too.
func (g *Governor) ask(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, g.patience())
	defer cancel()
	on, why, control, err := readControl(ctx, g.db, g.name)
	g.unread.Store(nil)
	if err == nil {
		g.control.Store(&control)
	}
	switch {
	case err != nil:
		g.unread.Store(&err)
		return dbtext.Fit(kindDatabase+": the switch cannot be read: "+fault.Redact(err), MaxReason)
	case on && why != "":
		return dbtext.Fit(kindPaused+": "+why, MaxReason)
	case on:
		return kindPaused
	}
	for i, throttle := range g.throttles {
		if time.Now().Before(g.rests[i]) {
			return g.failed[i]
		}
		kind := cmp.Or(throttle.Kind, kindOther)
		reason, err := throttle.Reason(ctx, g.db)
		if err != nil {
			g.rests[i] = time.Now().Add(askAgain)
			g.failed[i] = dbtext.Fit(kind+": the throttle cannot be asked: "+fault.Redact(err), MaxReason)
			return g.failed[i]
		}
		if reason != "" {
			return dbtext.Fit(kind+": "+fault.Redact(errors.New(reason)), MaxReason)
		}
	}
	return ""
}

// Stale makes it ask again at the next turn. For tests.
func (g *Governor) Stale() {
	<-g.turn
	g.asked = time.Time{}
	clear(g.rests)
	g.turn <- struct{}{}
}

// Quiet makes it neither ask nor write until then, as if it were not on the list of workers. For tests.
func (g *Governor) Quiet(until time.Time) {
	<-g.turn
	g.asked, g.beaten, g.tidied, g.listed, g.others.at = until, until, until, false, until
	g.turn <- struct{}{}
}
