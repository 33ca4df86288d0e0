package httpkey_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// TestMiddleware runs the tests that need a server one after the other on one schema: to make it takes longer
// than most of them.
func TestMiddleware(t *testing.T) {
	db, _ := open(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *sql.DB)
	}{
		{"Answers", testAnswers},
		{"Optional", testOptional},
		{"InFlight", testInFlight},
		{"StoreDown", testStoreDown},
		{"Operator", testOperator},
		{"ReplayIsIdentical", testReplayIsIdentical},
		{"Secrets", testSecrets},
		{"Misuse", testMisuse},
		{"NoStreaming", testNoStreaming},
		{"Parallel", testParallel},
		{"CutConnections", testCutConnections},
		{"ClientGone", testClientGone},
		{"WaiterGone", testWaiterGone},
		{"Timeout", testTimeout},
		{"Spellings", testSpellings},
		{"RefusedTransaction", testRefusedTransaction},
		{"Forms", testForms},
		{"Consumed", testConsumed},
		{"Routes", testRoutes},
		{"Contexts", testContexts},
		{"Lease", testLease},
		{"Unrecorded", testUnrecorded},
		{"Renamed", testRenamed},
		{"Mounted", testMounted},
		{"Redirects", testRedirects},
		{"FormsAnew", testFormsAnew},
		{"OwnFingerprint", testOwnFingerprint},
		{"Policy", testPolicy},
		{"LateNotDone", testLateNotDone},
		{"ReleasedPayload", testReleasedPayload},
		{"Herd", testHerd},
		{"Waits", testWaits},
		{"OldFingerprints", testOldFingerprints},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, db) })
	}
}

// form is one of the two forms of the middleware, on the schema that its tests share.
type form struct {
	two bool
	db  *sql.DB
}

func (f form) wrap(mw *httpkey.Middleware) func(http.Handler) http.Handler {
	if f.two {
		return mw.TwoStep
	}
	return mw.OneCommit
}

// eachForm runs a test on each form.
func eachForm(t *testing.T, db *sql.DB, test func(t *testing.T, f form)) {
	t.Run("one commit", func(t *testing.T) { test(t, form{false, db}) })
	t.Run("two steps", func(t *testing.T) { test(t, form{true, db}) })
}

// rig is a server with the middleware, on emptied tables. The pool is small on purpose.
type rig struct {
	t    testing.TB
	db   *sql.DB
	keys *idempotency.Keys
	srv  *httptest.Server
	log  *logged
}

// open makes a schema with the toolkit's tables and one for effects, that has no unique key.
func open(t testing.TB, opts ...dbtest.Option) (*sql.DB, string) {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	db := dbtest.OpenDSN(t, dsn)
	db.SetMaxOpenConns(12)
	dbtest.Toolkit(t, db, "onerow_key", "onerow_admission")
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE effect (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(300) NOT NULL) ENGINE=InnoDB"); err != nil {
		t.Fatal(err)
	}
	return db, dsn
}

func newKeys(t testing.TB) *idempotency.Keys {
	t.Helper()
	keys, err := idempotency.New(idempotency.Config{Name: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// newRig serves the handler at /orders/{id} and /charges, with any method.
func newRig(t testing.TB, f form, cfg httpkey.Config, handler http.HandlerFunc) *rig {
	t.Helper()
	g := &rig{t: t, db: f.db, keys: newKeys(t), log: &logged{}}
	for _, table := range []string{"effect", "onerow_key"} {
		if _, err := g.db.ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
			t.Fatal(err)
		}
	}
	if cfg.Tenant == nil {
		cfg.Tenant = func(r *http.Request) (string, error) { return r.Header.Get("Test-User"), nil }
	}
	cfg.Log = slog.New(slog.NewTextHandler(g.log, nil))
	mw, err := httpkey.New(g.db, g.keys, cfg)
	if err != nil {
		t.Fatal(err)
	}
	wrap := f.wrap(mw)
	mux := http.NewServeMux()
	mux.Handle("/orders/{id}", wrap(handler))
	mux.Handle("/charges", wrap(handler))
	g.serve(mux)
	return g
}

// serve starts a real server on loopback; a handler's panic is not news.
func (g *rig) serve(h http.Handler) {
	g.srv = httptest.NewUnstartedServer(h)
	g.srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	g.srv.Start()
	// net/http's own client sends a request with an Idempotency-Key again when a reused connection breaks.
	g.srv.Client().Transport.(*http.Transport).DisableKeepAlives = true
	g.t.Cleanup(g.srv.Close)
}

// logged keeps the log, for tests that ask what was said.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// call is a request of a test.
type call struct {
	method, path, key, body, user, host string
	header                              http.Header
}

// reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

func (r reply) replayed() bool { return r.header.Get(httpkey.HeaderReplayed) == "true" }

func (r reply) problem(t testing.TB) httpkey.Problem {
	t.Helper()
	var p httpkey.Problem
	if ct := r.header.Get("Content-Type"); ct != "application/problem+json" {
		t.Fatalf("status %d, Content-Type %q, body %q", r.status, ct, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), &p); err != nil {
		t.Fatal(err)
	}
	if p.Status != r.status || p.Title == "" {
		t.Errorf("the problem %+v in an answer with %d", p, r.status)
	}
	return p
}

func (c call) request(t testing.TB, ctx context.Context, base string) *http.Request {
	t.Helper()
	if c.method == "" {
		c.method = http.MethodPost
	}
	if c.path == "" {
		c.path = "/orders/1"
	}
	r, err := http.NewRequestWithContext(ctx, c.method, base+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range c.header {
		r.Header[name] = values
	}
	if c.key != "" {
		r.Header.Set(httpkey.HeaderKey, c.key)
	}
	r.Header.Set("Test-User", c.user)
	r.Host = c.host
	return r
}

// try sends a request and may get no answer.
func (g *rig) try(c call) (reply, error) {
	res, err := g.srv.Client().Do(c.request(g.t, g.t.Context(), g.srv.URL))
	if err != nil {
		return reply{}, err
	}
	return readAll(res)
}

func readAll(res *http.Response) (reply, error) {
	body, err := io.ReadAll(res.Body)
	if cerr := res.Body.Close(); err == nil {
		err = cerr
	}
	return reply{res.StatusCode, res.Header, string(body)}, err
}

func (g *rig) send(c call) reply {
	g.t.Helper()
	r, err := g.try(c)
	if err != nil {
		g.t.Fatal(err)
	}
	return r
}

// want sends a request that must be answered with a status.
func (g *rig) want(status int, c call) reply {
	g.t.Helper()
	r := g.send(c)
	if r.status != status {
		g.t.Fatalf("status %d, want %d: %s\nlog: %s", r.status, status, r.body, g.log)
	}
	return r
}

func (g *rig) effects(name string) int {
	g.t.Helper()
	return dbtest.Scan[int](g.t, g.db, "SELECT COUNT(*) FROM effect WHERE name = ?", name)
}

// entry is the one key with an id.
func (g *rig) status(id string) idempotency.Status {
	g.t.Helper()
	s := dbtest.Scan[sql.NullString](g.t, g.db, "SELECT MAX(status) FROM onerow_key WHERE idem_key = ?", []byte(id))
	return idempotency.Status(s.String)
}

// effect is the handler's work: it writes a row named by the body, in the transaction where there is one.
func effect(r *http.Request, db *sql.DB) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	name := string(body)
	var on onerow.DB = db
	tx, err := httpkey.Tx(r.Context())
	switch {
	case err == nil:
		on = tx
	case !errors.Is(err, httpkey.ErrNoTx):
		return err
	}
	_, err = on.ExecContext(r.Context(), "INSERT INTO effect (name) VALUES (?)", name)
	return err
}

// eventually polls.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	dbtest.Eventually(t, 10*time.Second, func() (bool, string) { return cond(), what })
}
