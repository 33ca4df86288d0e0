package httpkey_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// handlerFor is a handler that uses Tx where the path says so and answers with the status in the query.
func handlerFor(t testing.TB) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/tx" {
			if _, err := httpkey.Tx(r.Context()); err != nil {
				t.Error(err)
			}
		}
		status := http.StatusOK
		if s := r.URL.Query().Get("status"); s != "" {
			if _, err := fmt.Sscan(s, &status); err != nil {
				t.Error(err)
			}
		}
		w.WriteHeader(status)
	})
}

// TestStatements holds the counts that doc.go states.
func TestStatements(t *testing.T) {
	_, dsn := open(t)
	db, c := racetest.Counted(t, dsn)
	mw, err := httpkey.New(db, newKeys(t), httpkey.Config{Tenant: httpkey.SingleTenant, Optional: true})
	if err != nil {
		t.Fatal(err)
	}
	one, two := mw.OneCommit(handlerFor(t)), mw.TwoStep(handlerFor(t))
	if mw, err = httpkey.New(db, newKeys(t), httpkey.Config{Tenant: httpkey.SingleTenant}); err != nil {
		t.Fatal(err)
	}
	elsewhere, elsewhere2 := mw.OneCommit(handlerFor(t)), mw.TwoStep(handlerFor(t)) // of a process that has not seen the keys
	routed := http.NewServeMux()
	routed.Handle("/one/{id}", one)
	routed.Handle("/two/{id}", two)
	for _, s := range []struct {
		what      string
		h         http.Handler
		path, key string
		want      int
	}{
		{"one commit", one, "/", "a", 4}, {"replay", one, "/", "a", 1}, {"replay elsewhere", elsewhere, "/", "a", 4}, {"Tx", one, "/tx", "b", 4}, {"4xx", one, "/?status=404", "c", 4}, {"its replay", one, "/?status=404", "c", 1},
		{"4xx, Tx", one, "/tx?status=404", "d", 5}, {"5xx", one, "/?status=500", "e", 3}, {"5xx, Tx", one, "/tx?status=500", "f", 4},
		{"no key", one, "/", "", 2}, {"no key, Tx", one, "/tx", "", 2}, {"no key, 4xx, Tx", one, "/tx?status=404", "", 3}, {"mismatch", one, "/?", "b", 2}, {"mismatch elsewhere", elsewhere, "/?", "b", 5},
		{"two steps", two, "/", "g", 2}, {"replay", two, "/", "g", 1}, {"replay elsewhere", elsewhere2, "/", "g", 2}, {"mismatch", two, "/x", "g", 2}, {"5xx", two, "/?status=500", "h", 2},
		{"5xx, replay", two, "/?status=500", "h", 2},
		{"a named wildcard", routed, "/one/1", "j", 4}, {"its replay", routed, "/one/1", "j", 1}, {"two steps, a named wildcard", routed, "/two/1", "k", 2}, {"its replay", routed, "/two/1", "k", 1},
		{"refused", one, "/?status=400", "l", 3}, {"refused, Tx", one, "/tx?status=400", "m", 4}, {"refused, two steps", two, "/?status=400", "n", 2}, {"429", two, "/?status=429", "i", 2}, {"no key", two, "/", "", 0},
	} {
		log, err := crashtest.Count(c, func() error {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, s.path, nil)
			if s.key != "" {
				r.Header.Set(httpkey.HeaderKey, s.key)
			}
			s.h.ServeHTTP(httptest.NewRecorder(), r)
			return nil
		})
		if err != nil || len(log) != s.want {
			t.Errorf("%s: %d statements, doc.go says %d: %v\n%s", s.what, len(log), s.want, err, log)
		}
	}
}

// TestCrash fails a request at every statement; the client sends it again until it is served.
func TestCrash(t *testing.T) {
	_, dsn := open(t, dbtest.Isolation(sql.LevelRepeatableRead))
	eachForm(t, nil, func(t *testing.T, f form) {
		least := 40
		if f.two {
			least = 12
		}
		var without []crashtest.Fault
		if f.two { // a process that stops between the two steps leaves its key in progress, for a human: that is what doc.go says
			without = append(without, crashtest.Abandoned)
		}
		report := crashtest.Run(t, racetest.Share(crashtest.Workflow{
			DSN:       dsn,
			Without:   without,
			Empty:     []string{"effect", "onerow_key"},
			Call:      func(ctx context.Context, db *sql.DB) error { return request(ctx, t, f, db) },
			Ignore:    []string{"onerow_key.token", "onerow_key.version"},
			Generated: []string{"onerow_key.call_token"},
		}))
		if report.FaultPoints < racetest.Least(least) {
			t.Errorf("only %d fault points", report.FaultPoints)
		}
	})
}

// request sends a request that is served with 201; in OneCommit it writes a row.
func request(ctx context.Context, t *testing.T, f form, db *sql.DB) error {
	mw, err := httpkey.New(db, newKeys(t), httpkey.Config{Tenant: httpkey.SingleTenant, Wait: 5 * time.Second})
	if err != nil {
		return err
	}
	h := f.wrap(mw)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !f.two {
			if err := effect(r, nil); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		w.WriteHeader(http.StatusCreated)
	}))
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader("x"))
	r.Header.Set(httpkey.HeaderKey, "k")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusCreated {
		return fmt.Errorf("status %d: %s", w.Code, w.Body)
	}
	return nil
}
