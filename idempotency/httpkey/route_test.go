package httpkey_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"testing"

	"github.com/onerow/onerow/idempotency/httpkey"
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
