package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// counter is Metrics for tests.
type counter struct {
	mu     sync.Mutex
	events map[string]int
	gauges map[string]int64
}

func (c *counter) Add(e string, _ string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.events == nil {
		c.events = map[string]int{}
	}
	c.events[e] += n
}

func (c *counter) Set(g string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gauges == nil {
		c.gauges = map[string]int64{}
	}
	c.gauges[g] = n
}

func (c *counter) of(e string) int { c.mu.Lock(); defer c.mu.Unlock(); return c.events[e] }

func TestOperator(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		counts := &counter{}
		keys, ctx := newKeys(t, idempotency.Config{Metrics: counts}), t.Context()
		ann := must(keys.Operator("ann", "ticket 12"))
		claims := map[string]idempotency.Claim{}
		for _, id := range []string{"done", "failed", "late", "late too", "runs"} {
			d := time.Hour
			if id[0] == 'l' {
				d = time.Microsecond
			}
			claims[id] = begun(t, db, keys, key(id), idempotency.Options{Expected: d})
		}
		if err := errors.Join(keys.Complete(ctx, db, claims["done"], receipt{ID: 1}),
			keys.Fail(ctx, db, claims["failed"], errors.New("x"), idempotency.Options{Attention: true})); err != nil {
			t.Fatal(err)
		}
		for what, want := range map[idempotency.ListOptions]string{{Status: idempotency.InProgress, Waiting: true}: "late late too", {Status: idempotency.InProgress}: "late late too runs",
			{Status: idempotency.Failed, Waiting: true}: "failed", {Status: idempotency.Failed}: "failed"} {
			got, after := "", idempotency.Entry{}
			for {
				page := must(keys.List(ctx, db, idempotency.ListOptions{Status: what.Status, Waiting: what.Waiting, Limit: 1, After: after}))
				if len(page) == 0 {
					break
				}
				got, after = got+" "+page[0].Key.ID, page[0]
			}
			if got != " "+want {
				t.Errorf("list %+v:%s, want %s", what, got, want)
			}
		}
		if m := must(keys.Measure(ctx, db)); m != (idempotency.Measures{InProgress: 3, Overdue: 2, Errored: 1}) || counts.gauges["overdue"] != 2 {
			t.Errorf("measured %+v, gauges %v", m, counts.gauges)
		}

		seen := func(id string) idempotency.Entry { return must(keys.Find(ctx, db, key(id))) }
		old := seen("late")
		if err := keys.Extend(ctx, db, claims["late"]); err != nil { // it is alive, and as it was seen
			t.Fatal(err)
		}
		for range 2 { // the second one changes nothing
			if err := ann.Release(ctx, db, old); err != nil {
				t.Fatal(err)
			}
		}
		if err := keys.Complete(ctx, db, claims["late"], receipt{}); !errors.Is(err, idempotency.ErrLost) {
			t.Errorf("the holder of a released key: %v", err)
		}
		next := begun(t, db, keys, key("late"))
		var changed *idempotency.Error
		bob := must(keys.Operator("bob", "me too"))
		for name, err := range map[string]error{
			"release what was seen": bob.Release(ctx, db, old), "complete what was seen": ann.Complete(ctx, db, old, receipt{}), "expire what was seen": ann.Expire(ctx, db, old),
			"expire what runs": ann.Expire(ctx, db, seen("runs")), "release what is done": ann.Release(ctx, db, seen("done")),
			"no such key": ann.Release(ctx, db, idempotency.Entry{Key: key("none"), Token: 1, Status: idempotency.InProgress}),
		} {
			if !errors.As(err, &changed) || !errors.Is(err, idempotency.ErrChanged) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := errors.Join(ann.Complete(ctx, db, seen("late too"), receipt{ID: 77}), ann.Complete(ctx, db, seen("failed"), receipt{ID: 78}),
			ann.Expire(ctx, db, seen("done")), keys.Complete(ctx, db, next, receipt{ID: 79})); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]int64{"late too": 77, "failed": 78, "late": 79} {
			if _, out, err := idempotency.Begin[receipt](ctx, db, keys, key(id)); err != nil || out == nil || out.Row.ID != want {
				t.Errorf("%s: %+v, %v", id, out, err)
			}
		}
		begun(t, db, keys, key("done")) // expired
		audit := ""
		for _, id := range []string{"done", "failed", "late", "late too", "runs"} {
			for _, a := range must(keys.Audit(ctx, db, key(id))) {
				audit += fmt.Sprintf("%s:%s:%s:%s ", id, a.Action, a.Seen, a.Actor)
				if a.Token != claims[id].Token || a.Reason != "ticket 12" || a.At.IsZero() {
					t.Errorf("%+v", a)
				}
			}
		}
		if want := "done:expire:complete:ann failed:complete:error:ann late:release:in_progress:ann late too:complete:in_progress:ann "; audit != want {
			t.Errorf("audit %q", audit)
		}
		if _, err := keys.Operator("", "x"); !errors.Is(err, idempotency.ErrInvalid) {
			t.Errorf("nobody: %v", err)
		}
	})
}

// TestMetrics: each outcome is counted once.
func TestMetrics(t *testing.T) {
	db, _ := open(t)
	c := &counter{}
	keys, ctx := newKeys(t, idempotency.Config{Metrics: c}), t.Context()
	must(idempotency.Do(ctx, db, keys, key("a"), charge(1), idempotency.Options{Payload: 1}))
	must(idempotency.Do(ctx, db, keys, key("a"), charge(1)))
	if _, err := idempotency.Do(ctx, db, keys, key("a"), charge(1), idempotency.Options{Payload: 2}); err == nil {
		t.Error("no mismatch")
	}
	claim := begun(t, db, keys, key("b"), idempotency.Options{Lease: time.Microsecond})
	leaseEnded(t, db, key("b"))
	heir := begun(t, db, keys, key("b"))
	if _, _, err := idempotency.Begin[int](ctx, db, keys, key("b")); err == nil {
		t.Error("not in progress")
	}
	if err := keys.Complete(ctx, db, claim, 1); err == nil {
		t.Error("not lost")
	}
	if err := keys.Fail(ctx, db, heir, errors.New("x")); err != nil {
		t.Error(err)
	}
	must(keys.Admit(ctx, db, key("a"), time.Hour))
	must(keys.Admit(ctx, db, key("a"), time.Hour))
	want := map[string]int{
		"started": 3, "taken_over": 1, "completed": 1, "failed": 1, "replayed": 1,
		"conflicted": 1, "mismatched": 1, "lost": 1, "admitted": 1, "refused": 1,
	}
	if fmt.Sprint(c.events) != fmt.Sprint(want) {
		t.Errorf("counted %v, want %v", c.events, want)
	}
}

// TestClaimTakesTheMarkOff: a claim begins anew, so the mark of what failed before it, which an Expire of an
// earlier version left on, goes: else the gauge of what is overdue would not count it.
func TestClaimTakesTheMarkOff(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	for verb, claim := range map[string]func(k idempotency.Key) error{
		"Begin": func(k idempotency.Key) error {
			_, _, err := idempotency.Begin[receipt](ctx, db, keys, k, idempotency.Options{Expected: time.Microsecond})
			return err
		},
		"Do": func(k idempotency.Key) error {
			_, err := idempotency.Do(ctx, db, keys, k, charge(1))
			return err
		},
		"Do, undone": func(k idempotency.Key) error {
			_, err := idempotency.Do(ctx, db, keys, k, func(context.Context, *onerow.Tx) (receipt, error) { return receipt{}, idempotency.ErrUndone })
			return err
		},
	} {
		k := key(verb)
		seen := begun(t, db, keys, k)
		if err := errors.Join(keys.Fail(ctx, db, seen, errOutage, idempotency.Options{Attention: true}), expireNow(t, db, seen), claim(k)); err != nil {
			t.Fatalf("%s: %v", verb, err)
		}
		if e := must(keys.Find(ctx, db, k)); e.Attention || e.Error != "" {
			t.Errorf("%s: %+v", verb, e)
		}
	}
	dbtest.Eventually(t, time.Second, func() (bool, string) { // a microsecond later
		m := must(keys.Measure(ctx, db))
		return m == idempotency.Measures{InProgress: 1, Overdue: 1}, fmt.Sprintf("%+v", m)
	})
}
