package cascade

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestThrottlesWithoutEscapes: a worker works on where \ is a character like any other.
func TestThrottlesWithoutEscapes(t *testing.T) {
	db := openForest(t, dbtest.Param("sql_mode", "'STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES'"))
	project(t, db, 1)
	rows := grow(t, db, 1, 2, 2, 2, 2)
	job := condemn(t, db, 1, 0)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := Config{MaxThreadsRunning: 100_000, ThrottleQueries: []string{`SELECT 'back\slash' = 'slash'`}}
	if err := worker(t, db, c).Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if got := get(t, db, job.ID); got.State != queue.Done || got.DeletedRows != sum(rows) {
		t.Errorf("%+v", got)
	}
}

// TestEachThrottle: a worker waits for each of its throttles, and says for which.
func TestEachThrottle(t *testing.T) {
	db := openForest(t)
	project(t, db, 1)
	job := condemn(t, db, 1, 0)
	var asleep sync.WaitGroup
	defer asleep.Wait()
	sleep, wake := context.WithCancel(t.Context())
	defer wake()
	asleep.Go(func() { _, _ = db.ExecContext(sleep, "DO SLEEP(60)") }) //nolint:errcheck // it is cut
	dbtest.Eventually(t, time.Minute, func() (bool, string) {
		return count(t, db, "SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'DO SLEEP(60)'") == 1, "nothing is running"
	})
	for want, c := range map[string]Config{
		"threads: Threads_running is ": {MaxThreadsRunning: 1},
		"lag: replica 1 is no replica": {MaxLag: time.Second, Replicas: []*sql.DB{db}},
		"query: a backup":              {ThrottleQueries: []string{"SELECT 0", "SELECT 'a backup'"}},
		"throttle: a sale":             {Throttle: func(context.Context, *sql.DB) (string, error) { return "a sale", nil }},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var told []string
		c.OnEvent = func(e Event) {
			if e.Throttled != nil {
				told = append(told, *e.Throttled)
				cancel()
			}
		}
		if err := worker(t, db, c).Drain(ctx); !errors.Is(err, context.Canceled) || len(told) == 0 || !strings.HasPrefix(told[0], want) {
			t.Errorf("%q, %v; want %q", told, err, want)
		}
		cancel()
	}
	if got := get(t, db, job.ID); got.State != queue.Ready {
		t.Errorf("%+v", got)
	}
}
