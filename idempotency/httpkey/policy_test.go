package httpkey_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
)

// TestStored goes through every status of both defaults: where it begins to be stored, and where it ends, in
// turns.
func TestStored(t *testing.T) {
	const refused = " 200 307 309 400 402 403 404 405 410 411 418 421 424 425 427 428 430 431 432"
	for want, stored := range map[string]func(int) bool{refused + " 500": httpkey.StoredOneCommit, refused + " ": httpkey.StoredTwoStep} {
		got, was := "", false
		for status := 200; status < 1000; status++ {
			if is := stored(status); is != was {
				got, was = got+fmt.Sprint(" ", status), is
			}
		}
		if got != want && got+" " != want {
			t.Errorf("stored:%s\nwant   :%s", got, want)
		}
	}
}

// testPolicy: what is stored, by default and as the service says. What is not stored runs again and leaves
// nothing.
func testPolicy(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		for _, c := range []struct {
			name     string
			stored   func(int) bool
			statuses map[int]bool
		}{
			{"default", nil, map[int]bool{201: true, 303: true, 400: false, 402: true, 404: true, 409: false, 422: false, 429: false, 500: f.two, 503: f.two}},
			{"all", func(int) bool { return true }, map[int]bool{201: true, 400: true, 422: true, 429: true, 500: true}},
			{"no server errors", func(s int) bool { return s < 500 }, map[int]bool{201: true, 422: true, 429: true, 500: false}},
			{"none", func(int) bool { return false }, map[int]bool{201: false, 404: false, 500: false}},
		} {
			var runs atomic.Int64
			var g *rig
			g = newRig(t, f, httpkey.Config{Stored: c.stored}, steered(t, &g, &runs))
			g.srv.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			for status, stored := range c.statuses {
				name := fmt.Sprintf("%s %d", c.name, status)
				key := fmt.Sprint(status)
				before := runs.Load()
				first := g.want(status, call{key: key, body: name, header: do(key)})
				want := idempotency.Status("")
				switch {
				case stored && status >= 500 && f.two:
					want = idempotency.Failed
				case stored:
					want = idempotency.Completed
				case f.two:
					want = idempotency.Released
				}
				if got := g.status(key); got != want {
					t.Errorf("%s: the key is %q, want %q", name, got, want)
				}
				second := g.want(status, call{key: key, body: name, header: do(key)})
				ran := int(runs.Load() - before)
				if second.replayed() != stored || (ran == 1) != stored || stored && first.body != second.body {
					t.Errorf("%s: replayed %t, %d runs, %q and %q", name, second.replayed(), ran, first.body, second.body)
				}
				if !f.two && (status >= 400 || !stored) {
					ran = 0 // undone
				}
				if n := g.effects(name); n != ran {
					t.Errorf("%s: %d effects, want %d", name, n, ran)
				}
			}
		}
	})
}

// testLateNotDone: a goroutine that the handler has left behind says NotDone while it is decided what becomes
// of the answer. Whether it is heard or not, what was written before a 4xx is undone.
func testLateNotDone(t *testing.T, db *sql.DB) {
	var of context.Context
	g := newRig(t, form{false, db}, httpkey.Config{Optional: true, Stored: func(int) bool { httpkey.NotDone(of); return true }}, func(w http.ResponseWriter, r *http.Request) {
		of = r.Context()
		if err := effect(r, db); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusNotFound)
	})
	for _, key := range []string{"k", ""} {
		g.want(404, call{key: key, body: "late"})
		if n := g.effects("late"); n != 0 {
			t.Errorf("key %q: %d effects of a 404", key, n)
		}
	}
}

// testReleasedPayload: a request that was not done may be repeated, not replaced.
func testReleasedPayload(t *testing.T, db *sql.DB) {
	var runs atomic.Int64
	var g *rig
	g = newRig(t, form{true, db}, httpkey.Config{}, steered(t, &g, &runs))
	for how, status := range map[string]int{"429": 429, "422": 422, "503 not done": 503} {
		g.want(status, call{key: how[:3], body: "amount=1", header: do(how)})
		before := runs.Load()
		if p := g.want(422, call{key: how[:3], body: "amount=999"}).problem(t); p.Type != httpkey.ProblemMismatch || runs.Load() != before {
			t.Errorf("%s: %+v, %d runs", how, p, runs.Load()-before)
		}
		g.want(201, call{key: how[:3], body: "amount=1"})
	}
}
