package app

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const maxUpload = 1 << 20

// fixture is the application's interface on a schema and a folder of its own. The
// worker is driven by the test.
type fixture struct {
	url    string
	db     *sql.DB
	dir    string
	store  *store.Store
	worker *cascade.Worker
}

func start(t *testing.T) *fixture {
	t.Helper()
	db := dbtest.Open(t)
	if err := store.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return serveOn(t, db)
}

func serveOn(t *testing.T, db *sql.DB) *fixture {
	t.Helper()
	f := &fixture{db: db, dir: t.TempDir()}
	files, err := store.OpenFiles(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	})
	log := slog.New(slog.DiscardHandler)
	if f.store, err = store.New(f.db, files, log); err != nil {
		t.Fatal(err)
	}
	if f.worker, err = cascade.NewWorker(f.db, store.Plan(), cascade.Config{Assets: files}); err != nil {
		t.Fatal(err)
	}
	handler, err := newHandler(f.store, Config{Server: connect.Server{Log: log}, MaxUpload: maxUpload, Grace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
	t      testing.TB
}

// get is a field of the JSON answer.
func (a answer) get(name string) any {
	a.t.Helper()
	fields := map[string]any{}
	if err := json.Unmarshal(a.body, &fields); err != nil {
		a.t.Fatalf("%d %q: %v", a.status, a.body, err)
	}
	return fields[name]
}

func (a answer) id(name string) int64 {
	a.t.Helper()
	n, ok := a.get(name).(float64)
	if !ok {
		a.t.Fatalf("no number %q in %d %s", name, a.status, a.body)
	}
	return int64(n)
}

// want fails the test unless the answer has the status; an error must be a problem.
func (a answer) want(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	if status >= http.StatusBadRequest {
		a.problem()
	}
	return a
}

func (a answer) problem() problem.Problem {
	a.t.Helper()
	var p problem.Problem
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil || a.header.Get("Content-Type") != "application/problem+json" {
		a.t.Fatalf("not a problem: %d %s %q: %v", a.status, a.header.Get("Content-Type"), a.body, err)
	}
	if p.Status != a.status || p.Title == "" || p.Type == "" || p.Detail == "" || p.RequestID == "" {
		a.t.Fatalf("an incomplete problem: %d %s", a.status, a.body)
	}
	return p
}

// send makes a request; headers come in pairs.
func (f *fixture) send(t testing.TB, method, path, body string, headers ...string) answer {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, f.url+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	// A redirect is an answer, too.
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, text, t}
}

// object is a JSON body.
func object(pairs ...string) string {
	fields := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		fields[pairs[i]] = pairs[i+1]
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (f *fixture) user(t testing.TB, plan string) int64 {
	t.Helper()
	return f.send(t, "POST", "/api/users", object("name", "Ada", "plan", plan)).want(201).id("id")
}

func (f *fixture) count(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	if err := f.db.QueryRowContext(context.Background(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (f *fixture) files(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
