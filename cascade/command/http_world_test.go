package command

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/command/internal/daemon"
	"github.com/onerow/onerow/cascade/command/internal/metrics"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/page"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/planfile"
)

const testToken = "0123456789abcdef-token"

// site is a page in this process, on a real database.
type site struct {
	*world
	metrics *metrics.Metrics
	plan    schema.Plan
	base    string       // its address
	client  *http.Client // follows no redirect and keeps no cookie
	token   string       // sent as a bearer
	away    func()       // ends the server, as a worker that is killed
}

// serve makes the page of a worker that does not run yet.
func (w *world) serve(token string, onLoopback bool) *site {
	w.t.Helper()
	return w.serveWith(token, func(o *page.Options) { o.Local = onLoopback })
}

// serveWith is serve with other options.
func (w *world) serveWith(token string, other func(*page.Options)) *site {
	w.t.Helper()
	text, err := os.ReadFile(w.plan)
	if err != nil {
		w.t.Fatal(err)
	}
	plan, err := planfile.Parse(w.plan, text)
	if err != nil {
		w.t.Fatal(err)
	}
	a := &shell.App{Environment: shell.Environment{Getenv: func(string) string { return "" }}}
	op, err := daemon.Operator(a, daemon.HTTPFlags{HTTP: ":0", HTTPToken: strings.Fields(token)}, slog.New(slog.NewTextHandler(w.t.Output(), nil)))
	if err != nil {
		w.t.Fatal(err)
	}
	options := op.Page(&daemon.Working{DB: w.db, Plan: plan, Name: "tester:1", Database: "db.example/shop"}, false)
	other(&options)
	p, err := page.New(options)
	if err = errors.Join(err, op.Metrics.Watch(w.db)); err != nil {
		w.t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(options.Prefix+"/", http.StripPrefix(options.Prefix, p))
	server := httptest.NewServer(mux)
	ctx, stop := context.WithCancel(context.Background())
	var beside sync.WaitGroup
	beside.Go(func() { p.Run(ctx) })
	w.t.Cleanup(func() {
		server.Close()
		stop()
		beside.Wait()
	})
	s := &site{world: w, metrics: op.Metrics, plan: plan, base: server.URL + options.Prefix, token: token, away: func() { server.CloseClientConnections(); server.Close() }}
	s.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s
}

// changed makes the page read the database when it is next looked at, as any button does.
func (s *site) changed() {
	s.t.Helper()
	s.says(s.do(http.MethodPost, "/parked/4711000/retry", url.Values{}), http.StatusNotFound)
}

// reply is a response, read to its end.
type reply struct {
	*http.Response
	body string
}

type change func(*http.Request)

func header(name, value string) change {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func (s *site) do(method, path string, form url.Values, changes ...change) reply {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if method == http.MethodPost {
		r.Header.Set("Origin", s.base) // as browsers do
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	for _, c := range changes {
		c(r)
	}
	response, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		s.t.Fatal(err)
	}
	return reply{response, string(body)}
}

func (s *site) get(path string, changes ...change) reply {
	return s.do(http.MethodGet, path, nil, changes...)
}

// says fails unless the answer has the status and every text.
func (s *site) says(got reply, status int, texts ...string) {
	s.t.Helper()
	if got.StatusCode != status {
		s.t.Errorf("%s %s: %s, want %d: %s", got.Request.Method, got.Request.URL.Path, got.Status, status, got.body)
		return
	}
	for _, text := range texts {
		if !strings.Contains(got.body, text) {
			s.t.Errorf("%s %s: %q is not in: %s", got.Request.Method, got.Request.URL.Path, text, got.body)
		}
	}
}

// message follows a post's redirect and wants the page to say something.
func (s *site) message(got reply, text string) {
	s.t.Helper()
	s.says(got, http.StatusSeeOther)
	s.says(s.get(got.Header.Get("Location"), func(r *http.Request) {
		for _, c := range got.Cookies() {
			r.AddCookie(c)
		}
	}), http.StatusOK, text)
}

// enqueue queues the deletion of a project.
func (s *site) enqueue(id int, grace time.Duration) queue.Job {
	s.t.Helper()
	key, err := onerow.EncodeKey(id)
	if err != nil {
		s.t.Fatal(err)
	}
	d := queue.Deletion{Resource: "project", ResourceID: key, From: "active", Grace: grace}
	if d.ID, err = queue.Log(s.t.Context(), s.db, d); err != nil {
		s.t.Fatal(err)
	}
	job, err := queue.Enqueue(s.t.Context(), s.db, d)
	if err != nil {
		s.t.Fatal(err)
	}
	return job
}

// end moves an open job into the archive as a worker does whose attempts failed, or that
// could not delete every row.
func (s *site) end(id int64, state queue.State, problem string) {
	s.t.Helper()
	s.exec(`INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, worker, batch_seq,
  failures, last_error, created_at, started_at, finished_at)
SELECT id, resource, resource_id, deletion_id, ?, due_at, token, worker, batch_seq, 10, ?, created_at, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)
FROM onerow_job WHERE id = ?`, state, problem, id)
	s.exec(`DELETE FROM onerow_job WHERE id = ?`, id)
	s.changed()
}

// park parks a row of a job and returns its number.
func (s *site) park(job int64, table string, key any, problem string) int64 {
	s.t.Helper()
	encoded, err := onerow.EncodeKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	s.exec(`INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) VALUES (?, ?, ?, ?, 'parked', UTC_TIMESTAMP(6))`,
		job, table, []byte(encoded), problem)
	s.changed()
	return s.number(`SELECT MAX(id) FROM onerow_parked`)
}

// working runs a real worker until stop.
func (s *site) working(c cascade.Config) (stop func()) {
	s.t.Helper()
	worker, err := cascade.NewWorker(s.db, s.plan, c)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	return func() {
		s.t.Helper()
		cancel()
		if err := <-ended; err != nil {
			s.t.Errorf("the worker: %v", err)
		}
	}
}
