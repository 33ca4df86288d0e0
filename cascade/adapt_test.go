package cascade

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestPace: the limit follows what rows take, between its bounds.
func TestPace(t *testing.T) {
	const ms = time.Millisecond
	p := newPace(100*ms, 2000)
	for _, step := range []struct {
		took, work time.Duration
		rows       int64
		want       int
	}{
		{ms, ms / 2, 10, 500},         // few rows say nothing
		{ms, ms / 2, 500, 626},        // there is time for more, but not for how many more
		{100 * ms, 90 * ms, 626, 783}, // one batch is not all
		{time.Second, 999 * ms, 3, 783},
		{time.Second, 999 * ms, 783, 391},
	} {
		if p.took(step.took, step.work, step.rows); p.limit() != step.want {
			t.Errorf("after %s for %d rows it is %d, want %d", step.took, step.rows, p.limit(), step.want)
		}
	}
	settle := func(p *pace, fixed, perRow time.Duration) int {
		for range 100 {
			work := time.Duration(p.limit()) * perRow
			p.took(fixed+work, work, int64(p.limit()))
		}
		return p.limit()
	}
	for _, c := range []struct {
		target, fixed, perRow time.Duration
		low, high             int
	}{
		{100 * ms, 2 * ms, ms / 10, 930, 980},
		{100 * ms, 2 * ms, time.Microsecond, 2000, 2000},
		{100 * ms, 0, time.Second, shortestLimit, shortestLimit},
		{2 * ms, 3 * ms, ms / 100, 540, 600}, // BEGIN to COMMIT alone take longer than the target
	} {
		if got := settle(newPace(c.target, 2000), c.fixed, c.perRow); got < c.low || got > c.high {
			t.Errorf("with %s for a row, %s for a batch and a target of %s it is %d, want %d to %d", c.perRow, c.fixed, c.target, got, c.low, c.high)
		}
	}
	if p := newPace(-1, 7000); settle(p, 0, time.Hour) != 7000 {
		t.Error(p.limit())
	}
}

// TestParallel: as many jobs as Parallel says are worked at once.
func TestParallel(t *testing.T) {
	db := openForest(t)
	want := map[int64]int64{}
	for id := range int64(6) {
		want[condemn(t, db, id+1, 0).ID] = sum(grow(t, db, id+1, 2, 2, 2, 2))
	}
	both := make(chan struct{})
	var inside atomic.Int32
	var once sync.Once
	w := worker(t, db, Config{Parallel: 3, ClaimJobs: 1, Assets: &shelf{hook: func(ctx context.Context, _ []string) error {
		if inside.Add(1) == 3 {
			once.Do(func() { close(both) })
		}
		select {
		case <-both:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := w.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	for id, rows := range want {
		if got := get(t, db, id); got.State != Done || got.DeletedRows != rows {
			t.Errorf("%+v, want %d", got, rows)
		}
	}
}
