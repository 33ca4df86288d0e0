package prommetrics_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/prommetrics"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// scrape returns the lines of a scrape over HTTP that are about cascades.
func scrape(t *testing.T, reg *prometheus.Registry) string {
	t.Helper()
	server := httptest.NewServer(promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status, err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("%q is missing in\n%s", line, text)
		}
	}
}

// TestMetrics: what a queue in a real database looks like, and what is counted of what a worker tells.
func TestMetrics(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	metrics, err := prommetrics.New(reg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prommetrics.New(reg); err == nil {
		t.Error("registered twice")
	}
	db, ctx := dbtest.Open(t), t.Context()
	if err := metrics.Measure(ctx, db); err == nil {
		t.Error("measured without tables")
	}
	if err := migrations.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if _, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "unheard of", ResourceID: fmt.Sprint(i), Grace: time.Duration(i/3) * time.Hour}); err != nil {
			t.Fatal(err)
		}
	}
	for _, query := range []string{
		"INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) VALUES (1, 'a', '1', 'e', 'parked', UTC_TIMESTAMP(6)), (1, 'a', '2', 'e', 'skipped', UTC_TIMESTAMP(6))",
		`INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
SELECT id, 'unheard of', id, 1, IF(id = 13, 'dead', 'leftovers'), UTC_TIMESTAMP(6), 1, 1, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)
FROM (SELECT 11 AS id UNION ALL SELECT 12 UNION ALL SELECT 13) AS x`,
		"UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR WHERE id = 1",
	} {
		if _, err := db.ExecContext(ctx, query); err != nil {
			t.Fatal(err)
		}
	}
	if err := admin.Pause(ctx, db, "", "maintenance"); err != nil {
		t.Fatal(err)
	}
	if err := metrics.Measure(ctx, db); err != nil {
		t.Fatal(err)
	}
	text := scrape(t, reg)
	wantLines(t, text, `onerow_cascade_jobs{state="dead"} 1`, `onerow_cascade_jobs{state="leftovers"} 2`, `onerow_cascade_jobs{state="ready"} 3`,
		`onerow_cascade_jobs{state="running"} 0`, `onerow_cascade_jobs{state="scheduled"} 1`, `onerow_cascade_parked_rows 1`, `onerow_cascade_paused 1`,
		`onerow_cascade_workers 0`, `onerow_cascade_throttled{reason="paused"} 0`, `onerow_cascade_jobs_ended_total{state="dead"} 0`)
	if !strings.Contains(text, "\nonerow_cascade_oldest_due_seconds 36") {
		t.Error(text)
	}

	for _, e := range []cascade.Event{
		{Took: 30 * time.Millisecond, Deleted: map[string]int64{"a": 3}, Detached: map[string]int64{"b": 7}},
		{Took: 300 * time.Millisecond, Deleted: map[string]int64{"a": 2}},
		{ParkedIn: "a"}, {LeaseLost: true}, {Ended: queue.Leftovers}, {Parallel: 3},
	} {
		metrics.Observe(e)
	}
	for _, reason := range []string{"paused: maintenance", "made up by the application", "threads: 99", "lag: replica 1 does not replicate"} {
		metrics.Observe(cascade.Event{Throttled: &reason})
	}
	text = scrape(t, reg)
	wantLines(t, text, `onerow_cascade_batch_seconds_bucket{le="0.02"} 0`, `onerow_cascade_batch_seconds_bucket{le="0.05"} 1`, `onerow_cascade_deleted_rows_total{table="a"} 5`,
		`onerow_cascade_detached_rows_total{table="b"} 7`, `onerow_cascade_parked_rows_total{table="a"} 1`, `onerow_cascade_lease_losses_total 1`,
		`onerow_cascade_jobs_ended_total{state="leftovers"} 1`, `onerow_cascade_throttled{reason="lag"} 1`)
	if n := strings.Count(text, "onerow_cascade_throttled{"); n != len(governor.Kinds()) || strings.Contains(text, "made up") {
		t.Errorf("%d reasons:\n%s", n, text)
	}
	metrics.Observe(cascade.Event{Throttled: new(string)})
	if err := admin.Resume(ctx, db, ""); err != nil {
		t.Fatal(err)
	}
	if err := metrics.Measure(ctx, db); err != nil {
		t.Fatal(err)
	}
	wantLines(t, scrape(t, reg), `onerow_cascade_throttled{reason="lag"} 0`, `onerow_cascade_paused 0`)
}

// TestWorker: a worker tells of an attempt that failed.
func TestWorker(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	metrics, err := prommetrics.New(reg)
	if err != nil {
		t.Fatal(err)
	}
	db, ctx := dbtest.Open(t), t.Context()
	if err := migrations.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	plan := schema.Plan{Resources: []schema.Resource{{Name: "thing"}}}
	for _, stmt := range plan.DDL() {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO thing (id, created_at, updated_at) VALUES (1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"1", "nonsense"} {
		if _, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "thing", ResourceID: id}); err != nil {
			t.Fatal(err)
		}
	}
	worker, err := cascade.NewWorker(db, plan, cascade.Config{OnEvent: metrics.Observe, MaxFailures: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if err := metrics.Measure(ctx, db); err != nil {
		t.Fatal(err)
	}
	text := scrape(t, reg)
	wantLines(t, text, `onerow_cascade_jobs_ended_total{state="done"} 1`, `onerow_cascade_jobs_ended_total{state="dead"} 1`, `onerow_cascade_jobs{state="dead"} 1`)
	if strings.Contains(text, "onerow_cascade_batch_seconds_count 0") {
		t.Error(text)
	}
}
