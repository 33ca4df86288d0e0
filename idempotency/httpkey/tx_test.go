package httpkey_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// sqlDeadlock makes the server answer a statement of the transaction with 1213.
const sqlDeadlock = "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'Deadlock found'"

// testRefusedTransaction: the handler whose transaction the server refused runs again, with the whole request
// and a new answer, whatever it made of the error.
func testRefusedTransaction(t *testing.T, db *sql.DB) {
	g := newRig(t, form{false, db}, httpkey.Config{Optional: true}, nil)
	for _, status := range []int{200, 404, 500, 429} {
		for _, key := range []string{fmt.Sprintf("k%d", status), ""} {
			runs := 0
			mw, err := httpkey.New(g.db, g.keys, httpkey.Config{Tenant: httpkey.SingleTenant, Optional: true})
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s of %d", key, status)
			g.serve(mw.OneCommit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				runs++
				if err := effect(r, g.db); err != nil {
					t.Error(err)
				}
				w.Header().Add("Link", fmt.Sprint(runs))
				if runs > 1 {
					w.WriteHeader(http.StatusCreated)
					return
				}
				tx, err := httpkey.Tx(r.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := tx.ExecContext(r.Context(), sqlDeadlock); !onerow.Retryable(err) {
					t.Errorf("no deadlock: %v", err)
				}
				http.Error(w, "something is wrong", status)
			})))
			r := g.want(201, call{key: key, body: name})
			if runs != 2 || g.effects(name) != 1 || r.body != "" || r.header.Get("Link") != "2" {
				t.Errorf("%s: %d runs, %d effects, %+v", name, runs, g.effects(name), r)
			}
		}
	}
}

// testForms: a form with a file is there in every run, and what it left on the disk is removed.
func testForms(t *testing.T, db *sql.DB) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	eachForm(t, db, func(t *testing.T, f form) {
		g := newRig(t, f, httpkey.Config{}, func(w http.ResponseWriter, r *http.Request) {
			if err := r.ParseMultipartForm(1); err != nil {
				t.Error(err)
			}
			if r.FormValue("name") != "x" || r.PathValue("id") != "1" || r.Pattern != "/orders/{id}" {
				t.Errorf("the form %v, the id %q, the pattern %q", r.Form, r.PathValue("id"), r.Pattern)
			}
		})
		var body strings.Builder
		form := multipart.NewWriter(&body)
		file, err := form.CreateFormFile("file", "f")
		if err == nil {
			_, err = file.Write(make([]byte, 200_000))
		}
		if err := errors.Join(err, form.WriteField("name", "x"), form.Close()); err != nil {
			t.Fatal(err)
		}
		g.want(200, call{key: "k", body: body.String(), header: http.Header{"Content-Type": {form.FormDataContentType()}}})
	})
}

// testConsumed: a body that was read outside of the middleware is not taken for an empty one.
func testConsumed(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		g := newRig(t, f, httpkey.Config{}, func(http.ResponseWriter, *http.Request) { t.Error("the handler ran") })
		inner := g.srv.Config.Handler
		g.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.FormValue("x")
			inner.ServeHTTP(w, r)
		}))
		p := g.want(500, call{key: "k", body: "x=1", header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}).problem(t)
		if p.Type != httpkey.ProblemInternal || !strings.Contains(g.log.String(), "inside") {
			t.Errorf("%+v, log: %s", p, g.log)
		}
	})
}

// testRoutes: the mux inside of the middleware, and a function.
func testRoutes(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		g := newRig(t, f, httpkey.Config{}, nil)
		created := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }
		mux := http.NewServeMux()
		mux.HandleFunc("POST /a/{id}", created)
		mux.HandleFunc("/b", created)
		for name, cfg := range map[string]httpkey.Config{
			"POST /a/{}, POST /b": {},
			"POST everything":     {Route: func(*http.Request) string { return "everything" }},
		} {
			cfg.Tenant = func(*http.Request) (string, error) { return name, nil }
			mw, err := httpkey.New(g.db, g.keys, cfg)
			if err != nil {
				t.Fatal(err)
			}
			g.serve(f.wrap(mw)(mux))
			g.want(201, call{key: "k", path: "/a/1"})
			second := 201
			if cfg.Route != nil {
				second = 422
			}
			g.want(second, call{key: "k", path: "/b"})
			g.send(call{key: "k", path: "/nowhere"})
			got := dbtest.Scan[string](t, g.db, "SELECT GROUP_CONCAT(operation ORDER BY operation SEPARATOR ', ') FROM onerow_key WHERE tenant = ?", []byte(name))
			if got != name {
				t.Errorf("the operations are %q, want %q", got, name)
			}
		}
	})
}

// testContexts: what a handler can ask for, and where.
func testContexts(t *testing.T, db *sql.DB) {
	ctx := t.Context()
	httpkey.NotDone(ctx)
	if _, err := httpkey.Tx(ctx); !errors.Is(err, httpkey.ErrNoTx) {
		t.Error(err)
	}
	if _, err := httpkey.Claim(ctx); !errors.Is(err, httpkey.ErrNoClaim) {
		t.Error(err)
	}
	eachForm(t, db, func(t *testing.T, f form) {
		g := newRig(t, f, httpkey.Config{}, func(_ http.ResponseWriter, r *http.Request) {
			_, txErr := httpkey.Tx(r.Context())
			claim, claimErr := httpkey.Claim(r.Context())
			if f.two && (!errors.Is(txErr, httpkey.ErrNoTx) || claimErr != nil || claim.Token == 0 || claim.Key.ID != "k") {
				t.Errorf("two steps: %v, %v, %+v", txErr, claimErr, claim)
			}
			if !f.two && (txErr != nil || !errors.Is(claimErr, httpkey.ErrNoClaim)) {
				t.Errorf("one commit: %v, %v", txErr, claimErr)
			}
		})
		g.want(200, call{key: "k"})
	})
}

// testLease: who was taken over changes nothing; its client is told that its answer is not the stored one.
func testLease(t *testing.T, db *sql.DB) {
	entered, leave := make(chan struct{}), make(chan struct{})
	var runs atomic.Int64
	var g *rig
	g = newRig(t, form{true, db}, httpkey.Config{Timeout: time.Millisecond, Lease: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		n := runs.Add(1)
		if n == 1 {
			close(entered)
			<-leave
			claim, err := httpkey.Claim(r.Context())
			if err != nil {
				t.Error(err)
			}
			err = g.keys.Owned(context.WithoutCancel(r.Context()), g.db, claim, func(context.Context, *onerow.Tx) error { t.Error("it writes"); return nil })
			if !errors.Is(err, idempotency.ErrLost) {
				t.Errorf("Owned: %v", err)
			}
		}
		if _, err := fmt.Fprintf(w, "run %d", n); err != nil {
			t.Error(err)
		}
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
	eventually(t, "no take-over", func() bool { return g.send(call{key: "k"}).body == "run 2" })
	close(leave)
	if r := <-first; r.body != "run 1" || r.header.Get(httpkey.HeaderUnrecorded) != "true" {
		t.Errorf("the first got %+v", r)
	}
	if r := g.want(200, call{key: "k"}); r.body != "run 2" || !r.replayed() || r.header.Get(httpkey.HeaderUnrecorded) != "" {
		t.Errorf("stored is %+v", r)
	}
}

// testUnrecorded: an answer that does not fit into the keys' limit goes out, and the key is marked.
func testUnrecorded(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		g := newRig(t, f, httpkey.Config{}, nil)
		keys, err := idempotency.New(idempotency.Config{MaxResult: 100})
		if err != nil {
			t.Fatal(err)
		}
		mw, err := httpkey.New(g.db, keys, httpkey.Config{Tenant: httpkey.SingleTenant})
		if err != nil {
			t.Fatal(err)
		}
		g.serve(f.wrap(mw)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if _, err := w.Write(make([]byte, 200)); err != nil {
				t.Error(err)
			}
		})))
		if !f.two {
			if p := g.want(500, call{key: "k"}).problem(t); p.Type != httpkey.ProblemUnstorable || g.status("k") != "" {
				t.Errorf("%+v, %q", p, g.status("k"))
			}
			return
		}
		if r := g.want(200, call{key: "k"}); len(r.body) != 200 || r.header.Get(httpkey.HeaderUnrecorded) != "true" || g.status("k") != idempotency.Failed {
			t.Errorf("%+v, %q", r, g.status("k"))
		}
	})
}
