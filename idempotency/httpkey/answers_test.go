package httpkey_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// steered is a handler that does its work and then what the header Test-Do says.
func steered(t testing.TB, g **rig, runs *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n := runs.Add(1)
		if err := effect(r, (*g).db); err != nil {
			t.Errorf("the handler's work: %v", err)
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		do := r.Header.Get("Test-Do")
		if strings.Contains(do, "not done") {
			httpkey.NotDone(r.Context())
		}
		if strings.Contains(do, "panic") {
			panic(http.ErrAbortHandler)
		}
		status := http.StatusCreated
		if _, err := fmt.Sscanf(do, "%d", &status); err != nil && !errors.Is(err, io.EOF) && do[0] >= '0' && do[0] <= '9' {
			t.Errorf("%q: %v", do, err)
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Location", fmt.Sprintf("/orders/%d", n))
		w.WriteHeader(status)
		if _, err := fmt.Fprintf(w, "run %d", n); err != nil {
			t.Errorf("the handler's answer: %v", err)
		}
	}
}

func do(what string) http.Header { return http.Header{"Test-Do": {what}} }

// testAnswers goes through the lines of the table in doc.go that need one request, or two.
func testAnswers(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		var runs atomic.Int64
		var g *rig
		g = newRig(t, f, httpkey.Config{MaxRequest: 100, Tenant: func(r *http.Request) (string, error) {
			if user := r.Header.Get("Test-User"); user != "nobody" {
				return user, nil
			}
			return "", errors.New("secret reason")
		}}, steered(t, &g, &runs))
		refused := func(name string, status int, problem string, c call) {
			t.Run(name, func(t *testing.T) {
				before := runs.Load()
				r := g.want(status, c)
				if p := r.problem(t); p.Type != problem {
					t.Errorf("the problem %+v, want %s", p, problem)
				}
				if c.key != "" && strings.Contains(r.body, c.key) || strings.Contains(r.body, "secret") {
					t.Errorf("the answer repeats what was sent: %s", r.body)
				}
				if runs.Load() != before {
					t.Error("the handler ran")
				}
			})
		}
		refused("no key", 400, httpkey.ProblemKeyMissing, call{body: "x"})
		refused("empty key", 400, httpkey.ProblemKeyMalformed, call{body: "x", header: http.Header{httpkey.HeaderKey: {""}}})
		refused("malformed key", 400, httpkey.ProblemKeyMalformed, call{body: "x", key: `"open`})
		refused("two keys", 400, httpkey.ProblemKeyMalformed, call{body: "x", header: http.Header{httpkey.HeaderKey: {"one", "two"}}})
		refused("long key", 400, httpkey.ProblemKeyMalformed, call{body: "x", key: strings.Repeat("k", 256)})
		refused("no tenant", 403, httpkey.ProblemTenant, call{body: "x", key: "k-tenant", user: "nobody"})
		refused("long tenant", 500, httpkey.ProblemInternal, call{body: "x", key: "k-tenant", user: strings.Repeat("u", 256)})
		refused("large body", 413, httpkey.ProblemRequestTooLarge, call{body: strings.Repeat("x", 101), key: "k-large"})

		t.Run("new, then replayed", func(t *testing.T) {
			first := g.want(201, call{body: "a", key: "k1"})
			second := g.want(201, call{body: "a", key: "k1"})
			if first.replayed() || !second.replayed() {
				t.Error("the header Idempotency-Replayed is wrong")
			}
			if second.body != first.body || second.header.Get("Location") != first.header.Get("Location") || g.effects("a") != 1 {
				t.Errorf("first %v, second %v, %d effects", first, second, g.effects("a"))
			}
		})
		refused("another body", 422, httpkey.ProblemMismatch, call{body: "b", key: "k1"})
		refused("another query", 422, httpkey.ProblemMismatch, call{body: "a", key: "k1", path: "/orders/1?x=1"})
		refused("another path of the route", 422, httpkey.ProblemMismatch, call{body: "a", key: "k1", path: "/orders/2"})
		refused("a path that only decodes to the same", 422, httpkey.ProblemMismatch, call{body: "a", key: "k1", path: "/orders/%31"})

		t.Run("scope", func(t *testing.T) {
			for i, c := range []call{{path: "/charges"}, {method: "PUT"}, {method: "FIRST"}, {user: "7"}, {key: "K1"}} {
				c.body = fmt.Sprintf("scope %d", i)
				if c.key == "" {
					c.key = "k1"
				}
				if r := g.want(201, c); r.replayed() {
					t.Errorf("%+v met another's key", c)
				}
			}
			refused("two invented methods share a name, not an answer", 422, httpkey.ProblemMismatch, call{method: "SECOND", key: "k1", body: "scope 2"})
		})
		t.Run("methods that pass", func(t *testing.T) {
			for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
				for range 2 {
					before := runs.Load()
					if r := g.want(201, call{method: method, key: "k-safe", body: "safe"}); r.replayed() || runs.Load() != before+1 {
						t.Errorf("%s: replayed, or not passed on", method)
					}
				}
			}
			if s := g.status("k-safe"); s != "" {
				t.Errorf("a key was stored as %s", s)
			}
		})
		t.Run("4xx are stored", func(t *testing.T) {
			g.want(404, call{body: "4xx", key: "k404", header: do("404")})
			if r := g.want(404, call{body: "4xx", key: "k404"}); !r.replayed() {
				t.Error("not replayed")
			}
			want := 0 // undone
			if f.two {
				want = 1
			}
			if n := g.effects("4xx"); n != want {
				t.Errorf("%d effects, want %d", n, want)
			}
		})
		for _, again := range []string{"429", "400", "422", "409", "500 not done", "201 not done", "panic not done"} {
			t.Run(again, func(t *testing.T) {
				if r, err := g.try(call{body: again, key: again[:3], header: do(again)}); err == nil && (r.replayed() || fmt.Sprint(r.status) != again[:3]) {
					t.Errorf("%+v", r)
				}
				if r := g.want(201, call{body: again, key: again[:3]}); r.replayed() {
					t.Error("replayed, but it was not done")
				}
				if n := g.effects(again); !f.two && n != 1 {
					t.Errorf("%d effects: it was not rolled back", n)
				}
			})
		}
		for _, unclear := range []string{"503", "panic"} {
			t.Run(unclear, func(t *testing.T) {
				key := "unclear-" + unclear
				r, err := g.try(call{body: key, key: key, header: do(unclear)})
				if unclear == "panic" && err == nil || unclear == "503" && (err != nil || r.status != 503 || r.body == "") {
					t.Errorf("%+v, %v", r, err)
				}
				if !f.two {
					if s := g.status(key); s != "" || g.effects(key) != 0 {
						t.Errorf("status %s, %d effects: nothing may be stored", s, g.effects(key))
					}
					g.want(201, call{body: key, key: key})
					return
				}
				eventually(t, "the panic is not recorded", func() bool { return g.status(key) == idempotency.Failed })
				if n := dbtest.Scan[int](t, g.db, "SELECT COUNT(*) FROM onerow_key WHERE idem_key = ? AND attention = 1", []byte(key)); n != 1 {
					t.Error("not marked for attention")
				}
				if unclear == "503" { // it has an answer
					again := g.want(503, call{body: key, key: key})
					if !again.replayed() || again.body != r.body || again.header.Get("Location") != r.header.Get("Location") || g.effects(key) != 1 {
						t.Errorf("%+v, and again %+v, %d effects", r, again, g.effects(key))
					}
					return
				}
				r = g.want(409, call{body: key, key: key})
				if p := r.problem(t); p.Type != httpkey.ProblemUnclear || r.header.Get("Retry-After") != "" {
					t.Errorf("%+v, Retry-After %q", p, r.header.Get("Retry-After"))
				}
			})
		}
	})
}

// testOptional: without a key the handler runs each time; in OneCommit in a transaction with the same rules.
func testOptional(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		var runs atomic.Int64
		var g *rig
		g = newRig(t, f, httpkey.Config{Optional: true}, steered(t, &g, &runs))
		for range 2 {
			if r := g.want(201, call{body: "x"}); r.replayed() {
				t.Error("replayed without a key")
			}
		}
		if n := g.effects("x"); n != 2 {
			t.Errorf("%d effects", n)
		}
		g.want(500, call{body: "y", header: do("500")})
		if n := g.effects("y"); !f.two && n != 0 {
			t.Error("a 500 without a key was not rolled back")
		}
		if n := dbtest.Scan[int](t, g.db, "SELECT COUNT(*) FROM onerow_key"); n != 0 {
			t.Errorf("%d keys", n)
		}
		g.want(400, call{body: "x", key: "a,b"})
	})
}

// testInFlight: the second of two requests.
func testInFlight(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		entered, leave := make(chan struct{}), make(chan struct{})
		g := newRig(t, f, httpkey.Config{Wait: time.Second}, func(w http.ResponseWriter, _ *http.Request) {
			close(entered)
			<-leave
			w.WriteHeader(http.StatusNoContent)
		})
		first := make(chan reply, 1)
		go func() {
			r, err := g.try(call{key: "k"})
			if err != nil {
				t.Error(err)
			}
			first <- r
		}()
		<-entered
		r := g.want(409, call{key: "k"})
		if p := r.problem(t); p.Type != httpkey.ProblemInFlight || r.header.Get("Retry-After") == "" || r.header.Get("Retry-After") > "5" {
			t.Errorf("%+v, Retry-After %q", p, r.header.Get("Retry-After"))
		}
		if f.two {
			if p := g.want(422, call{key: "k", body: "other"}).problem(t); p.Type != httpkey.ProblemMismatch {
				t.Errorf("%+v", p)
			}
		}
		close(leave)
		if r := <-first; r.status != 204 {
			t.Errorf("the first got %d", r.status)
		}
		if r := g.want(204, call{key: "k"}); !r.replayed() {
			t.Error("not replayed")
		}
	})
}
