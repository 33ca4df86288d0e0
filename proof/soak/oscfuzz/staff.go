package oscfuzz

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/adopt"
)

// workers are so many, each works two jobs at once.
const workers = 2

// staff are the workers, which are restarted with a plan that has new columns.
type staff struct {
	*world
	cancel context.CancelFunc
	all    sync.WaitGroup
}

func newStaff(w *world) *staff { return &staff{world: w} }

// start starts the workers. Their batches are small, so that there is always something between them.
func (s *staff) start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(ctx)
	for range workers {
		worker, err := cascade.NewWorker(s.db, s.planNow(), cascade.Config{
			Poll: 50 * time.Millisecond, Lease: 2 * time.Second, Load: 1, Batch: 5, Chunk: 4, Parallel: 2, Turn: 100 * time.Millisecond,
		})
		if err != nil {
			s.found.Add(brokenWorker, "%v", err)
			continue
		}
		s.all.Go(func() {
			if err := worker.Run(ctx); err != nil || ctx.Err() == nil {
				s.found.Add(brokenWorker, "%v", err)
			}
		})
	}
}

// again restarts them.
func (s *staff) again(ctx context.Context) {
	s.end()
	s.start(ctx)
}

// end ends them, whichever context they were started with.
func (s *staff) end() {
	s.cancel()
	s.all.Wait()
}

// planNow is the plan with the columns that were added. Of a table that the toolkit did not make it names
// none.
func (w *world) planNow() schema.Plan {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := plan()
	for i := range p.Resources {
		r := &p.Resources[i]
		for _, name := range w.columns[r.Name] {
			r.Columns = append(r.Columns[:len(r.Columns):len(r.Columns)], schema.Column{Name: name, Type: extraType})
		}
	}
	return p
}

// backfills fills keys, again and again.
func (w *world) backfills(ctx context.Context) {
	for fuzz.Pause(ctx, 500*time.Millisecond) {
		during := w.changing()
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
		r, err := adopt.Backfill(limited, w.db, w.planNow(), "ticket", adopt.Options{})
		cancel()
		w.count("backfill", err)
		switch {
		case err != nil && !onerow.Retryable(err) && (!errors.Is(err, adopt.ErrNotReady) || !during && !w.changing()):
			w.found.Add(brokenFill, "%v", err)
		case err == nil && r.LeftRows > 0:
			w.found.Add(brokenFill, "%d rows are left: %+v", r.LeftRows, r.Left)
		}
	}
}
