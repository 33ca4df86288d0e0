package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/trace"
)

// stopIn runs a worker until started returns, when it is in the middle of
// something, ends its context, and returns how long Run took to return.
func stopIn(t *testing.T, w *Worker, started func()) time.Duration {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- w.Run(ctx) }()
	started()
	begin := time.Now()
	stop()
	if err := <-result; err != nil {
		t.Errorf("Run: %v", err)
	}
	return time.Since(begin)
}

// soon is within two seconds, as it is promised, on a machine that has other things to do. What a stop could
// wait for by mistake takes longer: a lock wait 50 seconds, a lease an hour.
const soon = 20 * time.Second

// TestStop: a worker that is told to stop gives its leases back within two seconds,
// and the next one ends the jobs with exact counts.
func TestStop(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		want := grow(t, db, 1, 4, 2, 2, 2)
		first, second := condemn(t, db, 1, 0), condemn(t, db, 2, 0)
		started := make(chan struct{}, 100)
		took := stopIn(t, worker(t, db, Config{Lease: time.Hour, Chunk: 1, Assets: &shelf{hook: func(ctx context.Context, _ []string) error {
			started <- struct{}{}
			<-ctx.Done()
			return context.Cause(ctx)
		}}}), func() { <-started })
		if took > soon {
			t.Errorf("it took %s", took)
		}
		for _, id := range []int64{first.ID, second.ID} {
			if got := get(t, db, id); got.State == queue.Running || got.State == queue.Ready && got.Failures != 0 {
				t.Errorf("%+v", got)
			}
		}
		drain(t, worker(t, db, Config{}))
		if got := get(t, db, first.ID); got.State != queue.Done || !maps.Equal(got.Tables, want) {
			t.Errorf("%+v, want %v", got, want)
		}
	})
}

// TestStopWhileBlocked: a batch that waits for somebody's lock does not keep the
// worker from stopping in time.
func TestStopWhileBlocked(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		want := grow(t, db, 1, 2, 2, 2, 2)
		job := condemn(t, db, 1, 0)
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"comment", "comment_archive"} {
			dbtest.Exec(t, tx, fmt.Sprintf("SELECT id FROM %s FOR UPDATE", table))
		}
		took := stopIn(t, worker(t, db, Config{Lease: time.Hour}), func() {
			dbtest.Eventually(t, 20*time.Second, func() (bool, string) {
				return len(dbtest.Executing(t, db, "FOR UPDATE", "FORCE INDEX")) > 0, "no batch is blocked"
			})
		})
		if took > soon {
			t.Errorf("it took %s", took)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		dbtest.Eventually(t, 20*time.Second, func() (bool, string) {
			makeDue(t, db, job.ID) // where the server was too slow to give the lease back
			drain(t, worker(t, db, Config{}))
			state := get(t, db, job.ID).State
			return state == queue.Done, string(state)
		})
		if got := get(t, db, job.ID); !maps.Equal(got.Tables, want) || got.Failures != 0 {
			t.Errorf("%+v, want %v", got, want)
		}
	})
}

// TestUnreachable: without a database the worker keeps trying, Drain gives up, and
// both stop when they are told.
func TestUnreachable(t *testing.T) {
	db, err := sql.Open("mysql", "root@tcp(127.0.0.1:1)/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	w := worker(t, db, Config{})
	if n, err := w.RunOnce(t.Context()); n != 0 || err == nil {
		t.Error(n, err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	if err := w.Run(ctx); err != nil {
		t.Error(err)
	}
	if err := w.Drain(ctx); err == nil {
		t.Error("Drain had an empty queue")
	}
}

// TestDrainWithoutTables: on a database that was never migrated Drain gives up, and says what it misses.
func TestDrainWithoutTables(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t)
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	if err := worker(t, db, Config{}).Drain(ctx); err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "onerow_") {
		t.Error(err)
	}
}

// TestLogsByDefault: nobody runs a worker whose errors are seen nowhere because a field was left out.
func TestLogsByDefault(t *testing.T) {
	if w := worker(t, dbtest.Open(t), Config{}); w.cfg.Log.Handler() != trace.Log(slog.Default()).Handler() {
		t.Errorf("%v", w.cfg.Log.Handler())
	}
}
