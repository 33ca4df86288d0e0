package cascade

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// throttleFunc is a throttle of a test.
type throttleFunc func() string

func (f throttleFunc) Reason(context.Context, *sql.DB) (string, error) { return f(), nil }

// TestChore: Run calls it by itself and once a second at most, also where several jobs are worked at once,
// and not while it waits.
func TestChore(t *testing.T) {
	t.Parallel()
	db := openForest(t)
	var asked, called, together atomic.Int64
	w := worker(t, db, Config{Poll: time.Millisecond, Parallel: 3,
		Throttles: []Throttle{throttleFunc(func() string {
			if asked.Add(1) > 3 {
				return ""
			}
			if n := called.Load(); n > 0 {
				t.Errorf("called %d times while it was to wait", n)
			}
			return "busy"
		})},
		Chore: func(context.Context, *sql.DB) {
			if together.Add(1) > 1 {
				t.Error("called twice at once")
			}
			called.Add(1)
			time.Sleep(10 * time.Millisecond)
			together.Add(-1)
		}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	begin := time.Now()
	go func() { ended <- w.Run(ctx) }()
	dbtest.Eventually(t, time.Minute, func() (bool, string) { return called.Load() >= 2, "it was not called" })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := called.Load(); float64(n) > time.Since(begin).Seconds()+1 {
		t.Errorf("called %d times in %s", n, time.Since(begin))
	}
}
