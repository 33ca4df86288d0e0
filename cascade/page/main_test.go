package page

import (
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const (
	annsToken = "0123456789abcdef-ann"
	evesToken = "0123456789abcdef-eve"
)

var testPlan = schema.Plan{Resources: []schema.Resource{
	{Name: "shelf", Archive: "shelf_archive", Owner: "owner_id"},
	{Name: "book", Parent: schema.Parent{Resource: "shelf", Column: "shelf_id"}},
}}

// desk is a page on a database of its own, without a server: requests come from wherever a test says.
type desk struct {
	*Page
	t  *testing.T
	db *sql.DB
}

// atDesk makes the tables of a plan, and a page. Ann may act, eve may look.
func atDesk(t *testing.T, plan schema.Plan, other func(*Options)) *desk {
	t.Helper()
	d := &desk{t: t, db: dbtest.Open(t)}
	if err := migrations.Up(t.Context(), d.db); err != nil {
		t.Fatal(err)
	}
	for _, statement := range plan.DDL() {
		d.exec(statement)
	}
	o := Options{DB: d.db, Plan: plan, Name: "tester:1", Tokens: map[string]string{annsToken: "ann"}, ReadTokens: map[string]string{evesToken: "eve"},
		Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	if other != nil {
		other(&o)
	}
	var err error
	if d.Page, err = New(o); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) exec(query string, args ...any) {
	d.t.Helper()
	if _, err := d.db.ExecContext(d.t.Context(), query, args...); err != nil {
		d.t.Fatalf("%s: %v", query, err)
	}
}

func (d *desk) number(query string, args ...any) (n int64) {
	d.t.Helper()
	if err := d.db.QueryRowContext(d.t.Context(), query, args...).Scan(&n); err != nil {
		d.t.Fatalf("%s: %v", query, err)
	}
	return n
}

type change func(*http.Request)

func header(name string, values ...string) change {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

func by(token string) change { return header("Authorization", "Bearer "+token) }
func password(user, password string) change {
	return func(r *http.Request) { r.SetBasicAuth(user, password) }
}
func from(addr string) change { return func(r *http.Request) { r.RemoteAddr = addr } }

func (d *desk) do(method, path string, form url.Values, changes ...change) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(d.t.Context(), method, "http://worker.internal"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if method == http.MethodPost {
		r.Header.Set("Origin", "http://worker.internal")
	}
	for _, c := range changes {
		c(r)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

func (d *desk) get(path string, changes ...change) *httptest.ResponseRecorder {
	return d.do(http.MethodGet, path, nil, changes...)
}

// says fails unless the answer has the status and every text.
func (d *desk) says(got *httptest.ResponseRecorder, status int, texts ...string) string {
	d.t.Helper()
	body := got.Body.String()
	if got.Code != status {
		d.t.Errorf("%d, want %d: %s", got.Code, status, body)
		return body
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			d.t.Errorf("%q is not in: %s", text, body)
		}
	}
	return body
}

// told is what the page says after a post.
func (d *desk) told(got *httptest.ResponseRecorder) string {
	d.t.Helper()
	d.says(got, http.StatusSeeOther)
	r := httptest.NewRequestWithContext(d.t.Context(), http.MethodGet, "/", nil)
	for _, c := range got.Result().Cookies() {
		r.AddCookie(c)
	}
	f := d.takeFlash(httptest.NewRecorder(), r)
	if f == nil {
		d.t.Fatalf("nothing is said: %v", got.Header())
	}
	return f.Text
}

// shelf makes a shelf with books and queues its deletion.
func (d *desk) shelf(id, books int, grace time.Duration) queue.Job {
	d.t.Helper()
	d.exec("INSERT INTO shelf (id, owner_id, created_at, updated_at) VALUES (?, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", id)
	for range books {
		d.exec("INSERT INTO book (shelf_id, created_at, updated_at) VALUES (?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", id)
	}
	key, err := onerow.EncodeKey(id)
	if err != nil {
		d.t.Fatal(err)
	}
	del := queue.Deletion{Resource: "shelf", ResourceID: key, From: "active", Grace: grace}
	if del.ID, err = queue.Log(d.t.Context(), d.db, del); err != nil {
		d.t.Fatal(err)
	}
	job, err := queue.Enqueue(d.t.Context(), d.db, del)
	if err != nil {
		d.t.Fatal(err)
	}
	return job
}

// dead ends an open job as a worker does whose attempts have failed.
func (d *desk) dead(id int64, problem string) {
	d.t.Helper()
	d.exec(`INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, worker, batch_seq, failures, last_error, created_at, started_at, finished_at)
SELECT id, resource, resource_id, deletion_id, 'dead', due_at, token, worker, batch_seq, 10, ?, created_at, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM onerow_job WHERE id = ?`, problem, id)
	d.exec("DELETE FROM onerow_job WHERE id = ?", id)
	d.watch.changed()
}

// everything is all that the database has, by table.
func (d *desk) everything() string {
	d.t.Helper()
	rows, err := d.db.QueryContext(d.t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY 1")
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			d.t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		d.dump(&all, name)
	}
	return all.String()
}

func (d *desk) dump(w *strings.Builder, table string) {
	d.t.Helper()
	rows, err := d.db.QueryContext(d.t.Context(), "SELECT * FROM `"+table+"` ORDER BY 1") //nolint:gosec // a table of this test's
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		d.t.Fatal(err)
	}
	for rows.Next() {
		values, at := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range values {
			at[i] = &values[i]
		}
		if err := rows.Scan(at...); err != nil {
			d.t.Fatal(err)
		}
		fmt.Fprintf(w, "%s %q\n", table, values)
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
}
