package httpkey_test

import (
	"database/sql"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// testStoreDown: without the database nothing is done.
func testStoreDown(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		db, err := sql.Open("mysql", "root@tcp(127.0.0.1:1)/none")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		mw, err := httpkey.New(db, newKeys(t), httpkey.Config{Tenant: httpkey.SingleTenant, Wait: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		g := &rig{t: t, log: &logged{}}
		g.serve(f.wrap(mw)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the handler ran") })))
		r := g.want(503, call{key: "k"})
		if p := r.problem(t); p.Type != httpkey.ProblemStore || r.header.Get("Retry-After") != "1" {
			t.Errorf("%+v, %v", p, r.header)
		}
		if strings.Contains(r.body, "127.0.0.1") {
			t.Error("the answer tells where the database is")
		}
	})
}

// testOperator: what an operator decides is what the client gets.
func testOperator(t *testing.T, db *sql.DB) {
	var runs atomic.Int64
	var g *rig
	g = newRig(t, form{true, db}, httpkey.Config{}, steered(t, &g, &runs))
	operator, err := keyadmin.NewOperator(g.keys, "ann", "looked into it")
	if err != nil {
		t.Fatal(err)
	}
	seen := func(id string) idempotency.Entry {
		g.want(502, call{key: id, body: id, header: do("502")})
		e, err := keyadmin.Find(t.Context(), g.db, idempotency.Key{Operation: "POST /orders/{}", ID: id})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	answer := httpkey.Response{Status: 202, Header: map[string][][]byte{"Location": {[]byte("/x")}, "Set-Cookie": {[]byte("a=b")}}, Body: []byte("by hand")}
	if err := operator.Complete(t.Context(), g.db, seen("done"), answer); err != nil {
		t.Fatal(err)
	}
	r := g.want(202, call{key: "done", body: "done"})
	if !r.replayed() || r.body != "by hand" || r.header.Get("Location") != "/x" || r.header.Get("Set-Cookie") != "" {
		t.Errorf("%+v", r)
	}
	if err := operator.Complete(t.Context(), g.db, seen("wrong"), map[string]int{"status": 20}); err != nil {
		t.Fatal(err)
	}
	if p := g.want(500, call{key: "wrong", body: "wrong"}).problem(t); p.Type != httpkey.ProblemInternal {
		t.Errorf("%+v", p)
	}
	if err := operator.Release(t.Context(), g.db, seen("free")); err != nil {
		t.Fatal(err)
	}
	if r := g.want(201, call{key: "free", body: "free"}); r.replayed() {
		t.Error("replayed")
	}
}

func TestConfig(t *testing.T) {
	db := dbtest.Open(t)
	keys := newKeys(t)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}()
	for name, f := range map[string]func(*httpkey.Config) (onerow.DB, *idempotency.Keys){
		"no tenant": func(c *httpkey.Config) (onerow.DB, *idempotency.Keys) { c.Tenant = nil; return db, keys },
		"negative":  func(c *httpkey.Config) (onerow.DB, *idempotency.Keys) { c.Wait = -1; return db, keys },
		"cookie": func(c *httpkey.Config) (onerow.DB, *idempotency.Keys) {
			c.Headers = []string{"set-cookie"}
			return db, keys
		},
		"short lease":   func(c *httpkey.Config) (onerow.DB, *idempotency.Keys) { c.Lease = time.Second; return db, keys },
		"a transaction": func(*httpkey.Config) (onerow.DB, *idempotency.Keys) { return tx, keys },
		"no keys":       func(*httpkey.Config) (onerow.DB, *idempotency.Keys) { return db, nil },
		"no database":   func(*httpkey.Config) (onerow.DB, *idempotency.Keys) { return nil, keys },
	} {
		cfg := httpkey.Config{Tenant: httpkey.SingleTenant}
		d, k := f(&cfg)
		if _, err := httpkey.New(d, k, cfg); !errors.Is(err, httpkey.ErrInvalidConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
