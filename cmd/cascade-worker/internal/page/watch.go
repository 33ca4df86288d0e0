package page

import (
	"context"
	"sync"
	"time"

	"github.com/onerow/onerow/cascade"
)

const (
	freshFor    = 900 * time.Millisecond // what was read is shown to everybody who asks meanwhile
	readBudget  = 4 * time.Second        // for all statements together
	rateWindow  = 20 * time.Second
	rateAtLeast = 2 * time.Second // a rate over less than this would jump
)

// board is what the page shows, as it was read at one time.
type board struct {
	At      time.Time // by the database's clock
	Stats   cascade.Stats
	Workers []cascade.WorkerStatus
	Open    []cascade.Job
	Trouble []cascade.Job
	Ended   []cascade.Job
	Parked  []cascade.Parked
	Rates   map[int64]float64 // rows per second, of the running jobs for which it is known
	Counted map[int64]remaining
}

// watcher reads boards when somebody looks, at most one per second for everybody, and
// remembers what a rate needs. It has no goroutine.
type watcher struct {
	work Worker

	mu       sync.Mutex
	last     *board    // the last one that could be read
	readAt   time.Time // when it was tried
	problem  error     // of the last try
	since    time.Time // when trying began to fail
	samples  map[int64][]sample
	counted  map[int64]remaining
	counting chan struct{} // one count at a time
}

// sample is how far a job was.
type sample struct {
	at   time.Time
	rows int64
}

// remaining is what a job still had before it, when somebody asked.
type remaining struct {
	At      time.Time // by the database's clock
	Deleted int64     // rows that were deleted before
	Left    int64     // rows that were found
	AtLeast bool      // there are more than were counted
}

func newWatcher(w Worker) *watcher {
	return &watcher{work: w, samples: map[int64][]sample{}, counted: map[int64]remaining{}, counting: make(chan struct{}, 1)}
}

// read returns the board, or the last one there was with since when what is wrong. The
// board is nil when there never was one.
func (w *watcher) read(ctx context.Context) (*board, time.Time, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
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

// Changed makes the next read a new one, after a post.
func (w *watcher) Changed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.readAt = time.Time{}
}

// count keeps what was counted of a job.
func (w *watcher) count(job int64, left remaining) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counted[job] = left
}

// load sends 9 statements; 2 more if any job is open, and 1 for each other kind of job that there is.
func (w *watcher) load(ctx context.Context) (*board, error) {
	b, db := &board{Rates: map[int64]float64{}, Counted: map[int64]remaining{}}, w.work.DB
	var err error
	if b.At, err = databaseClock(ctx, db); err != nil {
		return nil, err
	}
	if b.Stats, err = cascade.ReadStats(ctx, db); err != nil {
		return nil, err
	}
	if b.Workers, err = cascade.Workers(ctx, db); err != nil {
		return nil, err
	}
	if b.Parked, err = cascade.ListParked(ctx, db, cascade.ParkedOptions{State: cascade.ParkedOpen, Limit: showParked}); err != nil {
		return nil, err
	}
	if b.Open, err = cascade.OpenJobs(ctx, db, showDue, showLater); err != nil {
		return nil, err
	}
	if b.Ended, err = cascade.EndedJobs(ctx, db, showEnded); err != nil {
		return nil, err
	}
	b.Trouble, err = troubledJobs(ctx, db)
	return b, err
}

// remember keeps the samples and counts of the jobs that are shown, and no others.
func (w *watcher) remember(b *board) {
	samples, counted := map[int64][]sample{}, map[int64]remaining{}
	for _, job := range b.Open {
		if c, known := w.counted[job.ID]; known {
			counted[job.ID], b.Counted[job.ID] = c, c
		}
		if job.State != cascade.Running {
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
	w.samples, w.counted = samples, counted
}
