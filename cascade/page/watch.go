package page

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/dbtime"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
)

const (
	freshFor    = 900 * time.Millisecond // what was read is shown to everybody who asks meanwhile
	readBudget  = 4 * time.Second        // for all statements together
	rateWindow  = 20 * time.Second
	rateAtLeast = 2 * time.Second // a rate over less than this would jump
)

// How much the page reads at most, however much there is.
const (
	showDue     = 50  // jobs that are due, the longest waiting first
	showLater   = 100 // others, the running ones first
	showTrouble = 200 // dead jobs, and as many with leftovers: equal ones are one entry
	showEnded   = 15
	showParked  = 200 // the same
	showKeys    = 100 // idempotency keys that wait for somebody: they are counted only
	showActions = 200 // that are looked through for who has paused
)

// board is what the page shows, as it was read at one time.
type board struct {
	At       time.Time // by the database's clock, as are all times and ages of the page
	Stats    admin.Stats
	Workers  []admin.WorkerStatus
	Open     []queue.Job
	Trouble  []queue.Job
	Ended    []queue.Job
	Parked   []queue.Parked
	Settings []admin.Settings
	Overdue  int               // idempotency keys, showKeys at most
	Errored  int               // those whose error needs attention, the same
	PausedBy map[string]string // who has paused a resource, or with "" all workers, as far as the last actions say
	Rates    map[int64]float64 // rows per second, of the jobs under way for which it is known
}

// watcher reads boards when somebody looks, at most one per second for everybody, and
// remembers what a rate needs. It has no goroutine of its own.
type watcher struct {
	db *sql.DB

	mu      sync.Mutex
	last    *board    // the last one that could be read
	readAt  time.Time // when it was tried
	problem error     // of the last try
	since   time.Time // when trying began to fail
	samples map[int64][]sample
	looked  time.Time // when somebody did last
}

type sample struct {
	at   time.Time
	rows int64
}

// read returns the board, or the last one there was with since when what is wrong. The
// board is nil when there never was one.
func (w *watcher) read(ctx context.Context) (*board, time.Time, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked = time.Now()
	if time.Since(w.readAt) >= freshFor {
		// Others wait for this board, so the client that hangs up does not end it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBudget)
		defer cancel()
		b, err := w.load(ctx)
		w.readAt = time.Now()
		switch {
		case err == nil:
			w.remember(b)
			w.last, w.problem, w.since = b, nil, time.Time{}
		case w.problem == nil:
			w.since = w.readAt
			fallthrough
		default:
			w.problem = err
		}
	}
	return w.last, w.since, w.problem
}

// now is the board, or why it cannot be read.
func (w *watcher) now(ctx context.Context) (*board, error) {
	b, _, err := w.read(ctx)
	return b, err
}

// changed makes the next read a new one, after a post.
func (w *watcher) changed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.readAt = time.Time{}
}

// underWay are the jobs of the last board that a worker has, or had a moment ago: none when nobody has looked
// for a while, or nothing is worked.
func (w *watcher) underWay() (jobs []queue.Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil || w.problem != nil || time.Since(w.looked) > lookedFor {
		return nil
	}
	for _, job := range w.last.Open {
		if w.last.underWay(job) {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// underWay says whether a job moves: a worker has it, or gave it back to take its turn with others.
func (b *board) underWay(j queue.Job) bool {
	return b.paused(j) == "" && (j.State == queue.Running && b.At.Before(j.DueAt) || j.State == queue.Ready && j.DeletedRows > 0 && j.Failures == 0)
}

// paused says what keeps workers from a job, if anything does.
func (b *board) paused(j queue.Job) string {
	if b.Stats.Paused.On {
		return "all workers are paused"
	}
	for _, r := range b.Stats.Resources {
		if r.Resource == j.Resource {
			return "jobs of " + output.Printable(r.Resource) + " are paused"
		}
	}
	return ""
}

// load sends 12 statements; 2 more if any job is open, 1 if anything is paused, and 1 for each other kind of
// job that there is.
func (w *watcher) load(ctx context.Context) (*board, error) {
	b, db := &board{Rates: map[int64]float64{}}, w.db
	for _, read := range []func() error{
		func() (err error) { b.At, err = dbtime.Now(ctx, db); return err },
		func() (err error) { b.Stats, err = admin.ReadStats(ctx, db); return err },
		func() (err error) { b.Workers, err = admin.Workers(ctx, db); return err },
		func() (err error) { b.Settings, err = admin.ReadSettings(ctx, db); return err },
		func() (err error) {
			b.Parked, err = queue.ListParked(ctx, db, queue.ParkedOptions{Open: true, Limit: showParked})
			return err
		},
		func() (err error) {
			b.Open, err = queue.List(ctx, db, queue.ListOptions{Due: showDue, Later: showLater})
			return err
		},
		func() (err error) {
			b.Ended, err = queue.List(ctx, db, queue.ListOptions{LastEnded: true, Limit: showEnded})
			return err
		},
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	for _, state := range []queue.State{queue.Dead, queue.Leftovers} {
		jobs, err := queue.List(ctx, db, queue.ListOptions{State: state, Limit: showTrouble})
		if err != nil {
			return nil, err
		}
		b.Trouble = append(b.Trouble, jobs...)
	}
	return b, firstOf(w.keys(ctx, b), w.pausedBy(ctx, b))
}

// keys counts those that wait for somebody. A worker that may not read them has none.
func (w *watcher) keys(ctx context.Context, b *board) error {
	for status, n := range map[idempotency.Status]*int{idempotency.InProgress: &b.Overdue, idempotency.Failed: &b.Errored} {
		list, err := keyadmin.List(ctx, w.db, keyadmin.ListOptions{Status: status, Waiting: true, Limit: showKeys})
		if err != nil && !fault.Denied(err) {
			return err
		}
		*n = len(list)
	}
	return nil
}

// pausedBy looks for who paused it: the newest action that is not older than the pause. A program that does
// not say who it is leaves none.
func (w *watcher) pausedBy(ctx context.Context, b *board) error {
	since := map[string]time.Time{}
	if b.Stats.Paused.On {
		since[""] = b.Stats.Paused.Since
	}
	for _, r := range b.Stats.Resources {
		since[r.Resource] = r.Since
	}
	if len(since) == 0 {
		return nil
	}
	acts, err := queue.ListActions(ctx, w.db, 0, 0, showActions)
	if err != nil && !fault.Denied(err) {
		return err
	}
	b.PausedBy = map[string]string{}
	for _, a := range acts {
		begun, paused := since[a.Resource]
		if paused && a.Action == "pause" && a.JobID == 0 && !a.At.Before(begun) && b.PausedBy[a.Resource] == "" {
			b.PausedBy[a.Resource] = a.Actor
		}
	}
	return nil
}

// remember keeps the samples of the jobs under way, and no others.
func (w *watcher) remember(b *board) {
	samples := map[int64][]sample{}
	for _, job := range b.Open {
		if !b.underWay(job) {
			continue
		}
		all := append(w.samples[job.ID], sample{b.At, job.DeletedRows})
		for len(all) > 2 && b.At.Sub(all[1].at) >= rateWindow {
			all = all[1:]
		}
		samples[job.ID] = all
		if took := b.At.Sub(all[0].at); took >= rateAtLeast {
			b.Rates[job.ID] = float64(job.DeletedRows-all[0].rows) / took.Seconds()
		}
	}
	w.samples = samples
}
