package httpkey_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"testing"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// testRenamed: a key is the same after a wildcard of its route was renamed, and another one on another route.
func testRenamed(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		g := newRig(t, f, httpkey.Config{}, nil)
		mw, err := httpkey.New(g.db, g.keys, httpkey.Config{Tenant: httpkey.SingleTenant})
		if err != nil {
			t.Fatal(err)
		}
		for n, c := range []struct {
			before, after, path string
			same                bool
		}{
			{"POST /accounts/{id}/charge", "POST /accounts/{account}/charge", "/accounts/7/charge", true},
			{"/a/{x}/{y}", "/a/{y}/{x}", "/a/1/2", true},
			{"POST /files/{path...}", "POST /files/{rest...}", "/files/a/b", true},
			{"/{$}", "POST /{$}", "/", true},
			{"POST /files/{path...}", "POST /files/{name}", "/files/a", false},
			{"POST /b/{id}", "POST /b/1", "/b/1", false},
			{"POST /{$}", "POST /{path...}", "/", false},
		} {
			runs := 0
			answers := make([]reply, 2)
			for i, pattern := range []string{c.before, c.after} {
				mux := http.NewServeMux()
				mux.Handle(pattern, f.wrap(mw)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					runs++
					w.WriteHeader(http.StatusCreated)
				})))
				g.serve(mux)
				answers[i] = g.want(201, call{key: fmt.Sprint("k", n), path: c.path, body: "x"})
			}
			if answers[0].replayed() || answers[1].replayed() != c.same || (runs == 1) != c.same {
				t.Errorf("%s, then %s: replayed %t, the handler ran %d times", c.before, c.after, answers[1].replayed(), runs)
			}
		}
	})
}

// testFormerly: a key that was used under an earlier name of its route goes on under that name: stored, in
// flight, released.
func testFormerly(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		runs := 0
		handler := func(w http.ResponseWriter, _ *http.Request) { runs++; w.WriteHeader(http.StatusCreated) }
		g := newRig(t, f, httpkey.Config{}, handler)
		current := g.srv
		served := func(cfg httpkey.Config) {
			cfg.Tenant = httpkey.SingleTenant
			mw, err := httpkey.New(g.db, g.keys, cfg)
			if err != nil {
				t.Fatal(err)
			}
			mux := http.NewServeMux()
			mux.Handle("/orders/{id}", f.wrap(mw)(http.HandlerFunc(handler)))
			g.serve(mux)
		}
		exec := func(query string) {
			if _, err := g.db.ExecContext(t.Context(), query); err != nil {
				t.Fatal(err)
			}
		}
		served(httpkey.Config{Route: func(r *http.Request) string { return r.Pattern }}) // the name that the version before gave
		g.want(201, call{key: "stored", body: "x"})
		g.srv = current
		if r := g.want(201, call{key: "stored", body: "x"}); !r.replayed() || runs != 1 {
			t.Errorf("replayed %t, %d runs", r.replayed(), runs)
		}
		g.want(422, call{key: "stored", body: "y"})

		old := idempotency.Key{Operation: "POST /orders/{id}", ID: "open"}
		claim, _, err := idempotency.Begin[httpkey.Response](t.Context(), g.db, g.keys, old)
		if err != nil {
			t.Fatal(err)
		}
		g.want(409, call{key: "open", body: "x"})
		if err := g.keys.Release(t.Context(), g.db, claim); err != nil {
			t.Fatal(err)
		}
		g.want(201, call{key: "open", body: "x"})
		if e, err := g.keys.Find(t.Context(), g.db, old); err != nil || e.Token != claim.Token+1 || e.Status != idempotency.Completed {
			t.Errorf("the released key: %+v, %v", e, err)
		}
		exec("UPDATE onerow_key SET expires_at = UTC_TIMESTAMP(6)")
		if r := g.want(201, call{key: "stored", body: "z"}); r.replayed() ||
			dbtest.Scan[string](t, g.db, "SELECT operation FROM onerow_key WHERE idem_key = 'stored' AND expires_at IS NULL") != "POST /orders/{}" {
			t.Error("an expired key under its old name counts")
		}

		exec("DELETE FROM onerow_key")
		served(httpkey.Config{Formerly: func(*http.Request) []string { return []string{"/carts/{id}", "/orders/{}"} }})
		g.want(201, call{key: "moved", body: "x"})
		exec("UPDATE onerow_key SET operation = 'POST /carts/{id}'")
		if r := g.want(201, call{key: "moved", body: "x"}); !r.replayed() {
			t.Error("a name that the service gives is not asked")
		}
	})
}
