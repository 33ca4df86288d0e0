package prommetrics_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/idempotency/prommetrics"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestMetrics(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	metrics, err := prommetrics.New(reg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prommetrics.New(reg); err == nil {
		t.Error("registered twice")
	}
	keys, err := idempotency.New(idempotency.Config{Metrics: metrics})
	if err != nil {
		t.Fatal(err)
	}
	db, ctx := dbtest.Open(t), t.Context()
	if err := migrations.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	begin := func(id string) error {
		_, _, err := idempotency.Begin[int](ctx, db, keys, idempotency.Key{Operation: "charge", ID: id})
		return err
	}
	if err := errors.Join(begin("a"), begin("b")); err != nil {
		t.Fatal(err)
	}
	if err := begin("a"); !errors.Is(err, idempotency.ErrInProgress) {
		t.Fatal(err)
	}
	if _, err := keyadmin.Measure(ctx, db, keys); err != nil {
		t.Fatal(err)
	}
	want := `
# HELP onerow_idempotency_events_total What happened to idempotency keys.
# TYPE onerow_idempotency_events_total counter
onerow_idempotency_events_total{event="conflicted",operation="charge"} 1
onerow_idempotency_events_total{event="started",operation="charge"} 2
# HELP onerow_idempotency_keys Idempotency keys that are open, by state, when last measured.
# TYPE onerow_idempotency_keys gauge
onerow_idempotency_keys{state="errored"} 0
onerow_idempotency_keys{state="in_progress"} 2
onerow_idempotency_keys{state="overdue"} 0
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
