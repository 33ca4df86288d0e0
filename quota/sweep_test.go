package quota_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/quota"
)

// TestSweepLeavesOthers: marks of another resource are another rule's.
func TestSweepLeavesOthers(t *testing.T) {
	db, _ := open(t, order{})
	err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error { return quota.Mark(ctx, tx, "elsewhere", 7) })
	if err != nil {
		t.Fatal(err)
	}
	res, err := quota.NewSweeper(db, quota.Config{Recheck: -1}, order{}.rule(t)).RunOnce(t.Context())
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_quota_mark"); err != nil || res != (quota.SweepResult{}) || n != 1 {
		t.Errorf("%+v, %v, and %d marks are left", res, err, n)
	}
}

// TestSweepOrder: oldest mark first, a batch at a time; an owner that fails is passed over and met again in
// the next lap.
func TestSweepOrder(t *testing.T) {
	db, _ := open(t, order{})
	var seen []int64
	broken := errors.New("broken")
	r, err := quota.New(order{}.plan(), "project", func(_ context.Context, _ *onerow.Tx, owner any) (int, error) {
		seen = append(seen, owner.(int64))
		if owner == int64(4) {
			return 0, broken
		}
		return 1, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []int{4, 9, 4, 2, 9, 7, 5} {
		mark(t, db, user)
	}
	s := quota.NewSweeper(db, quota.Config{Batch: 2, Recheck: -1}, r)
	for i, want := range []struct {
		res quota.SweepResult
		err error
	}{
		{quota.SweepResult{Recalculated: 1, Failed: 1, More: true}, broken},
		{quota.SweepResult{Recalculated: 1, More: true}, nil}, // and a mark of the owner that has failed
		{quota.SweepResult{Recalculated: 2, More: true}, nil},
		{quota.SweepResult{}, nil},
		{quota.SweepResult{Failed: 1, More: true}, broken},
		{quota.SweepResult{}, nil},
	} {
		res, err := s.RunOnce(t.Context())
		if res != want.res || !errors.Is(err, want.err) {
			t.Errorf("run %d: %+v, %v; want %+v", i, res, err, want)
		}
	}
	if want := []int64{4, 9, 2, 7, 5, 4}; !equal(seen, want) {
		t.Errorf("in the order %v, want %v", seen, want)
	}
	if n := marks(t, db); n != 2 {
		t.Errorf("%d marks, want those of the owner that fails", n)
	}
}

func equal(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestRecheck: owners that changed lately are looked at again, page by page, and what somebody broke without
// a mark is put right. A look that finds nothing writes nothing and does not make the owner "changed lately"
// again.
func TestRecheck(t *testing.T) {
	db, _ := open(t, order{})
	r := order{}.rule(t)
	for user := 1; user <= 5; user++ {
		setLimit(t, db, user, 1)
		add(t, db, user, 1, 2)
		mark(t, db, user)
	}
	config := quota.Config{Batch: 3, Recheck: time.Hour, RecheckEvery: time.Hour}
	s := quota.NewSweeper(db, config, r)
	run := func(s *quota.Sweeper, want quota.SweepResult) {
		t.Helper()
		if res, err := s.RunOnce(t.Context()); err != nil || res != want {
			t.Fatalf("%+v, %v; want %+v", res, err, want)
		}
	}
	run(s, quota.SweepResult{Recalculated: 3, Rechecked: 3, More: true})
	run(s, quota.SweepResult{Recalculated: 2, Rechecked: 2})
	run(s, quota.SweepResult{}) // the next lap is an hour away

	dbtest.Exec(t, db, "UPDATE onerow_quota_owner SET changed_at = changed_at - INTERVAL 2 HOUR WHERE owner = '2'")
	dbtest.Exec(t, db, "UPDATE onerow_quota_owner SET changed_at = '2001-01-01' + INTERVAL owner SECOND WHERE owner > '2'")
	dbtest.Exec(t, db, "UPDATE project SET is_over_quota = 1 WHERE user_id IN (1, 2)")
	before := dbtest.Scan[int](t, db, "SELECT SUM(generation) FROM onerow_quota_owner")
	run(quota.NewSweeper(db, config, r), quota.SweepResult{Rechecked: 1, Corrected: 1})
	wantFlags(t, db, order{}, 1)
	if n := dbtest.Scan[int](t, db, "SELECT SUM(generation) FROM onerow_quota_owner"); n != before+1 {
		t.Errorf("%d generations, there were %d", n, before)
	}
	// Nobody looks at the others, until the window reaches them: then in pages, in the order of their change.
	config.Recheck, config.RecheckEvery, config.Batch = 100*365*24*time.Hour, time.Nanosecond, 2
	s = quota.NewSweeper(db, config, r)
	run(s, quota.SweepResult{Rechecked: 2, More: true})
	dbtest.Exec(t, db, "UPDATE project SET is_over_quota = 1 WHERE user_id = 5")
	run(s, quota.SweepResult{Rechecked: 2, Corrected: 2, More: true}) // 5 and 2
	run(s, quota.SweepResult{Rechecked: 2, More: true})               // 1, and 5 or 2, which changed just now
	for user := 1; user <= 5; user++ {
		wantFlags(t, db, order{}, user)
	}

	quiet := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(owner, changed_at, generation ORDER BY owner) FROM onerow_quota_owner")
	s = quota.NewSweeper(db, quota.Config{Recheck: 100 * 365 * 24 * time.Hour}, r)
	run(s, quota.SweepResult{Rechecked: 5})
	if now := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(owner, changed_at, generation ORDER BY owner) FROM onerow_quota_owner"); now != quiet {
		t.Errorf("a look that found nothing wrote: %s, before: %s", now, quiet)
	}
	if _, err := r.Recalculate(t.Context(), db, 1); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_quota_owner WHERE INSTR(?, changed_at) > 0", quiet); n != 5 {
		t.Errorf("a recalculation that found nothing counts as a change")
	}
}

// lockedBuffer is a log that two goroutines may use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestRun: it settles, logs what goes wrong, keeps on, and ends cleanly, also in the middle of a wait for a
// lock.
func TestRun(t *testing.T) {
	db, _ := open(t, order{})
	var log lockedBuffer
	good := order{}.rule(t)
	bad, err := quota.New(order{}.plan(), "project", func(context.Context, *onerow.Tx, any) (int, error) { return 0, errors.New("no limits today") })
	if err != nil {
		t.Fatal(err)
	}
	setLimit(t, db, 7, 1)
	add(t, db, 7, 1, 2, 3)
	mark(t, db, 7)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	s := quota.NewSweeper(db, quota.Config{Every: time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, nil))}, bad, good)
	go func() { done <- s.Run(ctx) }()
	dbtest.Eventually(t, 20*time.Second, func() (bool, string) {
		err := flags(t.Context(), db, order{}, 7)
		return err == nil && marks(t, db) == 0 && strings.Contains(log.String(), "no limits today"), log.String()
	})
	// Somebody holds the owner's row for ever; a stop does not wait for it.
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, tx, "UPDATE onerow_quota_owner SET generation = generation + 1")
	mark(t, db, 7)
	dbtest.AwaitLock(t, db)
	stop()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second): // the lock is waited for 50
		t.Error("it does not stop")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), "context canceled") {
		t.Errorf("the stop was logged as a failure:\n%s", log.String())
	}
}
