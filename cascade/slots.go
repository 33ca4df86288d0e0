package cascade

import (
	"context"
	"errors"
	"sync"

	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/governor"
)

// slots is how many jobs are to be worked at once now.
func (w *Worker) slots() int {
	if n := w.governor.Control().Parallel; n > 0 {
		return n
	}
	return w.cfg.Parallel
}

// surplus says whether more loops run than an operator wants, so that a job is given back for it.
func (w *Worker) surplus() bool {
	n := w.governor.Control().Parallel
	return n > 0 && int(w.loops.Load()) > n
}

// slotted runs as many loops as there are slots, and waits for all of them. A loop that is told that it is
// one too many ends with an error of nil, and another one begins when there are more slots; the first that
// ends by itself has no successor, and neither has any other then.
func (w *Worker) slotted(ctx context.Context, loop func(ctx context.Context, surplus func() bool) error) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	running, known, ended := 0, w.cfg.Parallel, false
	surplus := func() bool {
		mu.Lock()
		defer mu.Unlock()
		if running <= w.slots() {
			return false
		}
		running--
		return true
	}
	woken, wake := context.WithCancel(ctx)
	defer wake()
	begin := func() {
		w.loops.Add(1)
		defer w.loops.Add(-1)
		left := false
		err := loop(ctx, func() bool { left = surplus(); return left })
		mu.Lock()
		defer mu.Unlock()
		if errs = append(errs, err); !left {
			running--
			ended = true
			wake()
		}
	}
	for {
		n := w.slots()
		if n != known {
			w.tell(Event{Parallel: n})
		}
		known = n
		mu.Lock()
		for ; running < n && !ended; running++ {
			all.Go(begin)
		}
		over := ended
		mu.Unlock()
		if over || woken.Err() != nil {
			break
		}
		backoff.Sleep(woken, governor.AskEvery)
	}
	all.Wait()
	return errors.Join(errs...)
}
