package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
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
		if e := must(keyadmin.Find(ctx, db, k)); e.Attention || e.Error != "" {
			t.Errorf("%s: %+v", verb, e)
		}
	}
	dbtest.Eventually(t, time.Second, func() (bool, string) { // a microsecond later
		m := must(keyadmin.Measure(ctx, db, keys))
		return m == keyadmin.Measures{InProgress: 1, Overdue: 1}, fmt.Sprintf("%+v", m)
	})
}
