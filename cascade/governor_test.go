package cascade

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// dial is a throttle that a test turns.
type dial struct {
	reason atomic.Pointer[string]
	err    atomic.Pointer[error]
	asked  atomic.Int64
}

func (d *dial) turn(reason string) { d.reason.Store(&reason) }

func (d *dial) Reason(context.Context, *sql.DB) (string, error) {
	d.asked.Add(1)
	if err := d.err.Load(); err != nil && *err != nil {
		return "", *err
	}
	if reason := d.reason.Load(); reason != nil {
		return *reason, nil
	}
	return "", nil
}

// heard notes why a governor waits.
type heard struct {
	mu      sync.Mutex
	reasons []string
}

func (h *heard) note(reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reasons = append(h.reasons, reason)
}

func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.reasons)
}

func onlyWorker(t testing.TB, db *sql.DB) admin.WorkerStatus {
	t.Helper()
	list, err := admin.Workers(t.Context(), db)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

// TestGovernor follows the reasons, who is told, and what the worker's row says.
func TestGovernor(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		d, h := &dial{}, &heard{}
		g := governor.New(db, "w", time.Minute, []governor.Throttle{{Reason: d.Reason}}, 1)
		g.Throttled = h.note
		idle := func(want bool) {
			t.Helper()
			g.Stale()
			if paused, err := g.Idle(ctx); paused != want || err != nil {
				t.Errorf("%t, %v", paused, err)
			}
		}
		idle(false)
		if w := onlyWorker(t, db); w.Name != "w" || w.Throttle != "" || w.JobID != 0 || w.Ago > time.Minute || time.Since(w.StartedAt).Abs() > time.Minute || w.SeenAt.Before(w.StartedAt) {
			t.Errorf("%+v", w)
		}
		d.turn("the shop is full")
		idle(true)
		if w := onlyWorker(t, db); w.Throttle != "throttle: the shop is full" {
			t.Errorf("%+v", w)
		}
		if err := admin.Pause(ctx, db, "", "backup"); err != nil {
			t.Fatal(err)
		}
		idle(true)
		asked := d.asked.Load()
		idle(true)
		if w := onlyWorker(t, db); w.Throttle != "paused: backup" || d.asked.Load() != asked {
			t.Errorf("%+v, and the throttle was asked", w)
		}
		if err := admin.Resume(ctx, db, ""); err != nil {
			t.Fatal(err)
		}
		broken := errors.New("no answer from mysql://root:hunter2@replica/")
		d.err.Store(&broken)
		idle(true)
		if w := onlyWorker(t, db); w.Throttle != "throttle: the throttle cannot be asked: no answer from mysql://…@replica/" {
			t.Errorf("%+v", w)
		}
		d.err.Store(new(error))
		d.turn("")
		idle(false)
		if w := onlyWorker(t, db); w.Throttle != "" {
			t.Errorf("%+v", w)
		}
		want := []string{"throttle: the shop is full", "paused: backup", "throttle: the throttle cannot be asked: no answer from mysql://…@replica/", ""}
		if got := h.all(); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		for range 2 {
			if err := g.Gone(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if list, err := admin.Workers(ctx, db); err != nil || len(list) != 0 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// TestGovernorWaits: a worker with a job waits as long as there is a reason, keeps its
// lease, and goes on; what it is told while it waits ends it.
func TestGovernorWaits(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		d := &dial{}
		d.turn("not now")
		g := governor.New(db, "w", 30*time.Millisecond, []governor.Throttle{{Reason: d.Reason}}, 1)
		var renewed atomic.Int64
		renew := func(context.Context) error { renewed.Add(1); return nil }
		ended := make(chan error, 1)
		go func() { ended <- g.Wait(t.Context(), 7, time.Millisecond, renew) }()
		dbtest.Eventually(t, time.Minute, func() (bool, string) { return renewed.Load() > 5, "the lease is not renewed" })
		dbtest.Eventually(t, time.Minute, func() (bool, string) {
			list, err := admin.Workers(t.Context(), db)
			return err == nil && len(list) == 1 && list[0].JobID == 7 && list[0].Throttle == "throttle: not now", "the worker does not say why it waits"
		})
		select {
		case err := <-ended:
			t.Fatalf("it went on: %v", err)
		default:
		}
		d.turn("")
		if err := <-ended; err != nil {
			t.Error(err)
		}

		d.turn("not now")
		g.Stale()
		lost := errors.New("lost")
		if err := g.Wait(t.Context(), 7, 0, func(context.Context) error { return lost }); !errors.Is(err, lost) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		time.AfterFunc(50*time.Millisecond, func() { cancel(stop) })
		begin := time.Now()
		if err := g.Wait(ctx, 7, 0, renew); !errors.Is(err, stop) || time.Since(begin) > soon {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
		if _, err := g.Idle(ctx); !errors.Is(err, stop) {
			t.Error(err)
		}
	})
}

// TestPauseWhileReading: a walk that goes on without a batch stops for the switch too, however
// far the end of the lease.
func TestPauseWhileReading(t *testing.T) {
	db := openForest(t)
	condemn(t, db, 1, 0)
	w := worker(t, db, Config{Lease: time.Hour})
	c, err := w.claim(t.Context(), w.cfg.ClaimJobs)
	if err != nil || len(c.Jobs) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := admin.Pause(t.Context(), db, "", "stop"); err != nil {
		t.Fatal(err)
	}
	l := &lease{Worker: w, job: c.Jobs[0], fenced: time.Now()}
	ended := make(chan error, 1)
	go func() { ended <- l.Keep(t.Context()) }()
	dbtest.Eventually(t, time.Minute, func() (bool, string) {
		list, err := admin.Workers(t.Context(), db)
		return err == nil && len(list) == 1 && list[0].Throttle == "paused: stop", "the worker does not stop"
	})
	select {
	case err := <-ended:
		t.Fatalf("it went on: %v", err)
	default:
	}
	if err := admin.Resume(t.Context(), db, ""); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestGovernorLogs: that the worker waits, and that it goes on, is logged once each, and a
// share of the time is no waiting.
func TestGovernorLogs(t *testing.T) {
	db := openForest(t)
	var log bytes.Buffer
	d := &dial{}
	g := governor.New(db, "w", time.Minute, []governor.Throttle{{Reason: d.Reason}}, 0.5)
	g.Log = slog.New(slog.NewTextHandler(&log, nil))
	look := func(job bool) {
		t.Helper()
		g.Stale()
		if _, err := g.Look(t.Context(), sql.NullInt64{Int64: 7, Valid: job}); err != nil {
			t.Fatal(err)
		}
	}
	look(false)
	look(true)
	if log.Len() > 0 {
		t.Error(log.String())
	}
	d.turn("17 are running")
	look(true)
	d.turn("18 are running")
	look(true)
	dbtest.Exec(t, db, "RENAME TABLE onerow_switch TO elsewhere")
	look(false)
	dbtest.Exec(t, db, "RENAME TABLE elsewhere TO onerow_switch")
	d.turn("")
	look(true)
	look(false)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%q", lines)
	}
	for i, want := range []string{`msg="cascade: waits" worker=w reason="throttle: 17`, `msg="cascade: waits" worker=w reason="database: the switch cannot be read`, `level=INFO msg="cascade: goes on" worker=w waited="database: `} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("%q does not say %q", lines[i], want)
		}
	}
}

// TestGovernorLoad: a quarter of the time for batches is three times as long for others.
func TestGovernorLoad(t *testing.T) {
	t.Parallel()
	db := openForest(t)
	h := &heard{}
	g := governor.New(db, "w", 2400*time.Millisecond, nil, 0.25) // a quarter of it is there to ask in
	g.Throttled = h.note
	renewed := 0
	begin := time.Now()
	if err := g.Wait(t.Context(), 7, time.Second, func(context.Context) error { renewed++; return nil }); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 3*time.Second || renewed < 3 {
		t.Errorf("waited %s and renewed %d times", took, renewed)
	}
	if got := h.all(); len(got) != 1 || got[0] != "load: batches get 25% of the time" {
		t.Errorf("%q", got)
	}
	if w := onlyWorker(t, db); w.Throttle != "load: batches get 25% of the time" {
		t.Errorf("%+v", w)
	}
	if paused, err := g.Idle(t.Context()); paused || err != nil {
		t.Error(paused, err)
	}
}

// TestGovernorSurvivesTheDatabase: a switch that cannot be read is a reason, and a row
// that cannot be written is none to fail.
func TestGovernorSurvivesTheDatabase(t *testing.T) {
	db := openForest(t)
	g := governor.New(db, "w", time.Minute, nil, 1)
	dbtest.Exec(t, db, "RENAME TABLE onerow_worker TO elsewhere")
	if paused, err := g.Idle(t.Context()); paused || err != nil {
		t.Error(paused, err)
	}
	dbtest.Exec(t, db, "RENAME TABLE elsewhere TO onerow_worker, onerow_switch TO elsewhere")
	g.Stale()
	if paused, err := g.Idle(t.Context()); !paused || err != nil {
		t.Error(paused, err)
	}
	if w := onlyWorker(t, db); !strings.HasPrefix(w.Throttle, "database: the switch cannot be read: ") {
		t.Errorf("%+v", w)
	}
	dbtest.Exec(t, db, "RENAME TABLE elsewhere TO onerow_switch")
	g.Stale()
	if paused, err := g.Idle(t.Context()); paused || err != nil {
		t.Error(paused, err)
	}
}

// TestGovernorStatements: nothing between the seconds, and who was killed is forgotten.
func TestGovernorStatements(t *testing.T) {
	db, connector := counting(t)
	dbtest.Exec(t, db, `INSERT INTO onerow_worker (name, started_at, seen_at, beats) VALUES ('killed', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 61 MINUTE, 1),
('lately', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 59 MINUTE, 1)`)
	g := governor.New(db, "w", time.Minute, governor.Throttles(100_000, 0, nil, nil), 1)
	renew := func(context.Context) error { return errors.New("not needed") }
	takes := func(what string, want int, call func() error) {
		t.Helper()
		log, err := crashtest.Count(connector, call)
		if err != nil || len(log) != want {
			t.Errorf("%s takes %d statements, want %d; it said %v\n%s", what, len(log), want, err, log)
		}
	}
	takes("the first look", 1+1+1+1+1, func() error { _, err := g.Idle(t.Context()); return err })
	if list, err := admin.Workers(t.Context(), db); err != nil || len(list) != 2 || list[0].Name != "lately" {
		t.Errorf("%+v, %v", list, err)
	}
	takes("a batch at once", 0, func() error { return g.Wait(t.Context(), 1, time.Millisecond, renew) })
	g.Stale()
	takes("a batch a second later", 2, func() error { return g.Wait(t.Context(), 1, time.Millisecond, renew) })
	takes("the end", 1, func() error { return g.Gone(t.Context()) })
	takes("the end of who never began", 0, func() error { return governor.New(db, "x", time.Second, nil, 1).Gone(t.Context()) })
}

// TestGovernorParallel: many goroutines of one worker ask once.
func TestGovernorParallel(t *testing.T) {
	db := openForest(t)
	d := &dial{}
	g := governor.New(db, "w", time.Minute, []governor.Throttle{{Reason: d.Reason}}, 1)
	begin := time.Now()
	var wg sync.WaitGroup
	for i := range int64(16) {
		wg.Go(func() {
			if err := g.Wait(t.Context(), i, 0, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := d.asked.Load(); n > 1+int64(time.Since(begin)/governor.AskEvery) {
		t.Errorf("asked %d times", n)
	}
}
