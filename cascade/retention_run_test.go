package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestRetentionInRun: Run queues what is due, a step each second at most, also where several jobs are worked at
// once, tells what it did, and waits where it is to wait. Its jobs are worked.
func TestRetentionInRun(t *testing.T) {
	t.Parallel()
	db, plan := openAttic(t), attic()
	plan.Tables[0].Retention.Rate = 1
	for id := range int64(3) {
		visit(t, db, id+1, ninety+time.Minute)
	}
	var asked, steps, queued atomic.Int64
	w, err := NewWorker(db, plan, Config{Poll: time.Millisecond, Parallel: 3,
		Throttle: func(context.Context, *sql.DB) (string, error) {
			if asked.Add(1) > 3 {
				return "", nil
			}
			if n := steps.Load(); n > 0 {
				t.Errorf("%d steps while it was to wait", n)
			}
			return "busy", nil
		},
		OnEvent: func(e Event) {
			if e.Retained == "visit" {
				steps.Add(1)
				queued.Add(int64(e.Queued))
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	begin := time.Now()
	go func() { ended <- w.Run(ctx) }()
	dbtest.Eventually(t, time.Minute, func() (bool, string) {
		rows := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM visit")
		return rows == 0, fmt.Sprintf("%d visits are left after %d steps", rows, steps.Load())
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := steps.Load(); n < 3 || float64(n) > time.Since(begin).Seconds()+1 || queued.Load() != 3 {
		t.Errorf("%d steps in %s queued %d", n, time.Since(begin), queued.Load())
	}
}
