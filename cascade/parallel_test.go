package cascade

import (
	"context"
	"github.com/onerow/onerow/cascade/queue"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

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
		if got := get(t, db, id); got.State != queue.Done || got.DeletedRows != rows {
			t.Errorf("%+v, want %d", got, rows)
		}
	}
}
