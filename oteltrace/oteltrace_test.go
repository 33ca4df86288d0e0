package oteltrace_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/oteltrace"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// Folder is a row that requests delete.
type Folder struct {
	ID     int64        `db:"id"`
	UserID int64        `db:"user_id"`
	Name   string       `db:"name"`
	State  schema.State `db:"state"`
}

// rig is a web application with a worker, and the spans of both.
type rig struct {
	*testing.T
	ctx     context.Context //nolint:containedctx // traced
	db      *sql.DB
	plan    schema.Plan
	folders *repo.Repo[Folder]
	keys    *idempotency.Keys
	tracer  *oteltrace.Tracer
	memory  *tracetest.InMemoryExporter
	log     bytes.Buffer
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t, db: dbtest.Open(t), memory: tracetest.NewInMemoryExporter()}
	r.plan = schema.Plan{Resources: []schema.Resource{{Name: "folder", Archive: "folder_archive", Owner: "user_id", Label: schema.Label{Column: "name"}}},
		Tables: []schema.Table{{Name: "file", Key: []string{"id"}, Parents: []schema.Edge{{Table: "folder", Columns: []string{"folder_id"}}}}},
		Trash:  schema.Age(time.Hour)}
	r.tracer = oteltrace.New(sdk.NewTracerProvider(sdk.WithSyncer(r.memory)))
	r.ctx = onerow.WithTracer(t.Context(), r.tracer)
	r.must(migrations.Up(t.Context(), r.db))
	r.exec("CREATE TABLE file (id BIGINT PRIMARY KEY, folder_id BIGINT NOT NULL, KEY folder_id (folder_id))")
	for _, text := range r.plan.DDL() {
		r.exec(text)
	}
	cat, err := catalog.Read(t.Context(), r.db)
	r.must(err)
	trash, err := cat.TrashDDL(r.plan)
	r.must(err)
	for _, text := range trash {
		r.exec(text)
	}
	r.folders, err = repo.New[Folder](r.plan, "folder")
	r.must(err)
	r.keys, err = idempotency.New(idempotency.Config{Name: "test", Log: slog.New(slog.NewTextHandler(&r.log, nil))})
	r.must(err)
	return r
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) exec(text string) {
	r.Helper()
	_, err := r.db.ExecContext(r.Context(), text)
	r.must(err)
}

func (r *rig) folder(name string) int64 {
	r.Helper()
	out, err := r.folders.Create(r.ctx, r.db, Folder{UserID: 1, Name: name})
	r.must(err)
	return out.Row.ID
}

// work works all jobs that are due.
func (r *rig) work(o cascade.Config) {
	r.Helper()
	o.Log = slog.New(slog.NewTextHandler(&r.log, nil))
	w, err := cascade.NewWorker(r.db, r.plan, o)
	r.must(err)
	r.must(w.Drain(r.ctx))
}

// spans returns those that have ended, and forgets them.
func (r *rig) spans() tracetest.SpanStubs {
	defer r.memory.Reset()
	return r.memory.GetSpans()
}

// one is the only span of that name.
func (r *rig) one(spans tracetest.SpanStubs, name string) tracetest.SpanStub {
	r.Helper()
	spans = slices.DeleteFunc(slices.Clone(spans), func(s tracetest.SpanStub) bool { return s.Name != name })
	if len(spans) != 1 {
		r.Fatalf("%d spans are called %s", len(spans), name)
	}
	return spans[0]
}

// below says whether a span is a descendant of another.
func below(spans tracetest.SpanStubs, child, parent tracetest.SpanStub) bool {
	for at := child; ; {
		if at.Parent.SpanID() == parent.SpanContext.SpanID() {
			return true
		}
		i := slices.IndexFunc(spans, func(s tracetest.SpanStub) bool { return s.SpanContext.SpanID() == at.Parent.SpanID() })
		if i < 0 {
			return false
		}
		at = spans[i]
	}
}

func attribute(s tracetest.SpanStub, key string) any {
	for _, a := range s.Attributes {
		if string(a.Key) == key {
			return a.Value.AsInterface()
		}
	}
	return nil
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestOneRequest follows a request from its handler to the worker's last batch, and its replay to it.
func TestOneRequest(t *testing.T) {
	r := newRig(t)
	id := r.folder("to go")
	r.exec("INSERT INTO file VALUES (1, 1), (2, 1), (3, 1)")
	r.spans()
	mw, err := httpkey.New(r.db, r.keys, httpkey.Config{Tenant: func(*http.Request) (string, error) { return "t", nil }})
	r.must(err)
	mux := http.NewServeMux()
	mux.Handle("DELETE /folder", mw.OneCommit(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		tx, err := httpkey.Tx(req.Context())
		if err == nil {
			_, err = r.folders.Delete(req.Context(), tx, id)
		}
		status, text := onerow.Answer(err)
		http.Error(w, text, status)
	})))
	server := r.tracer.Handler(mux)
	ask := func() *httptest.ResponseRecorder {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "/folder", nil)
		req.Header.Set("Idempotency-Key", `"k"`)
		req.Header.Set("Traceparent", traceparent)
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, req)
		return answer
	}
	if answer := ask(); answer.Code != http.StatusOK {
		t.Fatal(answer.Code, answer.Body)
	}
	r.work(cascade.Config{})
	spans := r.spans()
	request := r.one(spans, "httpkey.OneCommit")
	if request.Parent.SpanID().String() != "b7ad6b7169203331" {
		t.Errorf("the request's span does not continue what the client began: %v", request.Parent)
	}
	for _, name := range []string{"idempotency.Do", "repo.Delete", "cascade.job", "cascade.batch"} {
		s := r.one(spans, name)
		if !below(spans, s, request) || s.SpanContext.TraceID() != request.SpanContext.TraceID() || len(s.Links) > 0 {
			t.Errorf("%s is not of the request: %+v", name, s)
		}
	}
	if n := attribute(r.one(spans, "cascade.batch"), "onerow.rows"); n != int64(3) {
		t.Errorf("the batch has %v rows", n)
	}
	if job := r.one(spans, "cascade.job"); attribute(job, "onerow.resource") != "folder" || attribute(job, "onerow.attempt") != int64(1) {
		t.Errorf("%v", job.Attributes)
	}
	for line := range strings.Lines(r.log.String()) {
		if (strings.Contains(line, `msg="cascade: done"`) || strings.Contains(line, `msg="idempotency: outcome"`)) != strings.Contains(line, "traceparent=00-0af7651916cd43dd8448eb211c80319c-") {
			t.Errorf("lines of the request have its trace, and no others: %s", line)
		}
	}
	if !strings.Contains(r.log.String(), `msg="cascade: done"`) || !strings.Contains(r.log.String(), `msg="idempotency: outcome"`) {
		t.Error(r.log.String())
	}

	if answer := ask(); answer.Header().Get(httpkey.HeaderReplayed) != "true" {
		t.Fatal(answer)
	}
	replay := r.one(r.spans(), "idempotency.Do")
	if len(replay.Links) != 1 || replay.Links[0].SpanContext.TraceID() != request.SpanContext.TraceID() || attribute(replay, "onerow.replayed") != true {
		t.Errorf("the replay is not linked to the first request: %+v", replay)
	}
}

// TestAttempts: the first attempt of a job is a child of who asked for it, later ones are linked, and errors are told.
func TestAttempts(t *testing.T) {
	r := newRig(t)
	id := r.folder("refused")
	r.exec("INSERT INTO file VALUES (1, 1)")
	r.spans()
	_, err := r.folders.Delete(r.ctx, r.db, id)
	r.must(err)
	asked := r.one(r.spans(), "repo.Delete")
	if _, err := r.folders.Get(r.ctx, r.db, id); !errors.Is(err, onerow.ErrNotFound) {
		t.Error(err)
	}
	get := r.one(r.spans(), "repo.Get")
	if get.Status.Code != 0 || attribute(get, "onerow.answer") == nil {
		t.Errorf("not found is no failure: %v, %v", get.Status, get.Attributes)
	}
	r.exec("ALTER TABLE file RENAME TO away")
	func() {
		defer r.exec("ALTER TABLE away RENAME TO file")
		w, err := cascade.NewWorker(r.db, r.plan, cascade.Config{MaxFailures: 1})
		r.must(err)
		if n, err := w.RunOnce(r.ctx); n > 0 && err == nil {
			t.Log("worked", n)
		}
	}()
	first := r.one(r.spans(), "cascade.job")
	if first.SpanContext.TraceID() != asked.SpanContext.TraceID() || first.Status.Description == "" {
		t.Errorf("the first attempt is a child, and has failed: %+v", first)
	}
	r.exec("UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6)")
	r.work(cascade.Config{})
	second := r.one(r.spans(), "cascade.job")
	if second.SpanContext.TraceID() == asked.SpanContext.TraceID() || len(second.Links) != 1 || second.Links[0].SpanContext.TraceID() != asked.SpanContext.TraceID() {
		t.Errorf("the second attempt is linked: %+v", second)
	}
	jobs, err := queue.List(r.ctx, r.db, queue.ListOptions{State: queue.Done})
	r.must(err)
	_, p, err := recover.Job(r.ctx, r.db, r.plan, jobs[0].ID, recover.Options{})
	r.must(err)
	spans := r.spans()
	back, whole := int64(0), r.one(spans, "recover.Job")
	for _, s := range spans {
		if s.Name == "recover.batch" && below(spans, s, whole) {
			back += attribute(s, "onerow.rows").(int64)
		}
	}
	if back != p.Rows || back == 0 {
		t.Errorf("batches of the restore brought %d rows back, it says %d", back, p.Rows)
	}
}

// TestTogether: jobs that one batch ends have spans of their own, and the batch refers to all.
func TestTogether(t *testing.T) {
	r := newRig(t)
	r.plan.Trash = 0 // rows that are kept go job by job
	for _, name := range []string{"a", "b", "c"} {
		_, err := r.folders.Delete(r.ctx, r.db, r.folder(name))
		r.must(err)
	}
	r.spans()
	r.work(cascade.Config{})
	traces := map[string]bool{}
	spans := r.spans()
	for _, s := range spans {
		if s.Name == "cascade.job" {
			traces[s.SpanContext.TraceID().String()] = true
		}
	}
	for line := range strings.Lines(r.log.String()) {
		if strings.Contains(line, `msg="cascade: done"`) && !strings.Contains(line, "traceparent=") {
			t.Errorf("the line of a job has no trace: %s", line)
		}
	}
	if batch := r.one(spans, "cascade.batch"); len(traces) != 3 || len(batch.Links) != 2 || attribute(batch, "onerow.jobs") != int64(3) {
		t.Errorf("%d traces; %+v", len(traces), batch)
	}
}

// TestTakeOver: who takes a key over is linked to the claim whose lease has ended.
func TestTakeOver(t *testing.T) {
	r := newRig(t)
	key := idempotency.Key{Tenant: "t", Operation: "pay", ID: "1"}
	_, _, err := idempotency.Begin[int](r.ctx, r.db, r.keys, key, idempotency.Options{Lease: time.Microsecond})
	r.must(err)
	first := r.one(r.spans(), "idempotency.Begin")
	claim, _, err := idempotency.Begin[int](r.ctx, r.db, r.keys, key)
	r.must(err)
	second := r.one(r.spans(), "idempotency.Begin")
	if !claim.TakenOver || len(second.Links) != 1 || second.Links[0].SpanContext.TraceID() != first.SpanContext.TraceID() || attribute(second, "onerow.taken_over") != true {
		t.Errorf("%+v, %+v", claim, second)
	}
}

// TestRunAgain: a transaction that was refused has an event for the next try.
func TestRunAgain(t *testing.T) {
	r := newRig(t)
	n := 0
	err := onerow.InTx(r.ctx, r.db, func(ctx context.Context, tx *onerow.Tx) error {
		if n++; n == 1 {
			return onerow.ErrMoved
		}
		_, err := tx.ExecContext(ctx, "DO 1")
		return err
	})
	r.must(err)
	tx := r.one(r.spans(), "onerow.InTx")
	if len(tx.Events) != 1 || tx.Events[0].Name != "run again" {
		t.Errorf("%+v", tx.Events)
	}
	err = onerow.InTx(r.ctx, r.db, func(context.Context, *onerow.Tx) error {
		return errors.New("fetch https://user:hunter2@store.example/a?X-Amz-Signature=hunter2: 403")
	})
	if tx := r.one(r.spans(), "onerow.InTx"); strings.Contains(tx.Status.Description, "hunter2") || !strings.Contains(tx.Status.Description, "store.example") || !strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v, and the span has %q", err, tx.Status.Description)
	}
}

// TestNoStatementMore: what is traced sends what is not traced sends.
func TestNoStatementMore(t *testing.T) {
	r := newRig(t)
	r.db.SetMaxOpenConns(1)
	questions := func() (n int64) {
		var name string
		r.must(r.db.QueryRowContext(t.Context(), "SHOW SESSION STATUS LIKE 'Questions'").Scan(&name, &n))
		return n
	}
	key := idempotency.Key{Tenant: "t", Operation: "o"}
	verbs := func(ctx context.Context, name string) int64 {
		before := questions()
		key.ID = name
		for range 3 { // does, replays, replays from what it remembers
			_, err := idempotency.Do(ctx, r.db, r.keys, key, func(ctx context.Context, tx *onerow.Tx) (int, error) {
				out, err := r.folders.Create(ctx, tx, Folder{UserID: 1, Name: name})
				if err == nil {
					_, err = r.folders.Delete(ctx, tx, out.Row.ID)
				}
				return 1, err
			})
			r.must(err)
		}
		w, err := cascade.NewWorker(r.db, r.plan, cascade.Config{Load: 1})
		if err == nil {
			_, err = w.RunOnce(ctx)
		}
		r.must(err)
		return questions() - before
	}
	verbs(t.Context(), "warm")
	plain, traced := verbs(t.Context(), "plain"), verbs(r.ctx, "traced")
	if plain != traced || len(r.spans()) == 0 {
		t.Errorf("%d statements, traced %d", plain, traced)
	}
}
