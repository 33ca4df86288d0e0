package cascade

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestPace: the limit follows the time that batches take, between its bounds.
func TestPace(t *testing.T) {
	p := newPace(100*time.Millisecond, 2000)
	for _, step := range []struct {
		took time.Duration
		rows int64
		want int
	}{
		{time.Millisecond, 10, 500}, {time.Millisecond, 500, 626}, {60 * time.Millisecond, 626, 626}, {time.Second, 626, 313}, {time.Second, 3, 313}, {time.Second, 400, 156},
	} {
		if p.took(step.took, step.rows); p.limit() != step.want {
			t.Errorf("after %s for %d rows it is %d, want %d", step.took, step.rows, p.limit(), step.want)
		}
	}
	for range 50 {
		p.took(time.Hour, 5000)
	}
	if p.limit() != shortestLimit {
		t.Error(p.limit())
	}
	for range 50 {
		p.took(0, 5000)
	}
	if p.limit() != 2000 {
		t.Error(p.limit())
	}
	if p := newPace(-1, 7000); p.limit() != 7000 {
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
