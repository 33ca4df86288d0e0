// Package metrics is what GET /metrics of run tells: the queue, the worker, the process and its connections.
//
// Open this package when a metric of the process or of the queue is added.
package metrics

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/ownrows"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/prommetrics"
	"github.com/onerow/onerow/internal/recount/waiting"
)

// Metrics are this process's, in a registry of their own: nothing that a library registers by itself gets in.
type Metrics struct {
	*prommetrics.Metrics
	registry *prometheus.Registry

	waiting, trash    *prometheus.GaugeVec
	looked            *prometheus.GaugeVec
	purged, retained  *prometheus.CounterVec
	orphans, searched prometheus.Gauge
	owners, counted   *prometheus.GaugeVec // of limits
	expired, oldest   *prometheus.GaugeVec // reservations
	marks, oldestMark *prometheus.GaugeVec // of quotas
	Kinds             []ownrows.Kind

	mu       sync.Mutex
	measured time.Time
	figured  time.Time // what waits for the purge, and what else is counted seldom
}

// New registers them.
func New() (*Metrics, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector())
	m, err := prommetrics.New(registry)
	if err != nil {
		return nil, err
	}
	register := promauto.With(registry) // panics where a name is used twice: these are all there are
	gauges := func(name, label, help string) *prometheus.GaugeVec {
		return register.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{label})
	}
	counters := func(name, label, help string) *prometheus.CounterVec {
		return register.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	}
	return &Metrics{Metrics: m, registry: registry,
		waiting: gauges("onerow_purge_waiting", "what", "Rows of the toolkit's own tables that are to be purged, 1000 meaning that many or more, as of the last minute."),
		purged:  counters("onerow_purged_rows_total", "what", "Rows of the toolkit's own tables that this process has purged."),
		trash: gauges("onerow_cascade_trash_rows", "what",
			"What is in the trash, as of the last minute: deleted rows, references that were cut; of both, what is stuck since a restore and what has expired."),
		retained: counters("onerow_cascade_retention_queued_rows_total", "resource", "Rows that this process has queued because the plan's retention asks for it."),
		looked: gauges("onerow_cascade_retention_done_timestamp_seconds", "resource",
			"When this process had last queued everything that was due by the plan's retention, by its clock."),
		orphans: register.NewGauge(prometheus.GaugeOpts{Name: "onerow_cascade_orphans",
			Help: "Missing rows, one for each table that refers to it, as this process's last search found them; 1000: that many or more."}),
		searched: register.NewGauge(prometheus.GaugeOpts{Name: "onerow_cascade_orphans_searched_timestamp_seconds",
			Help: "When this process's last search for missing rows ended, by its clock; 0: none has."}),
		owners: register.NewGaugeVec(prometheus.GaugeOpts{Name: "onerow_limit_owners",
			Help: "Owners of a limit, of its first 20000 rows and as of the last minute: all; full, those with nothing left; recount, those to be counted again, of all rows."}, []string{"limit", "what"}),
		counted: gauges("onerow_limit_oldest_count_seconds", "limit", "Age of the oldest count of an owner, as of the last minute."),
		expired: gauges("onerow_limit_reservations_expired", "limit", "Expired reservations that keep their room, 20000 meaning that many or more, as of the last minute."),
		oldest:  gauges("onerow_limit_oldest_expired_seconds", "limit", "For how long the first of the expired reservations has kept its room, as of the last minute."),
		marks: register.NewGaugeVec(prometheus.GaugeOpts{Name: "onerow_quota_marks",
			Help: "Marks of owners whose quota is to be recalculated, 20000 meaning that many or more, as of the last minute."}, nil),
		oldestMark: register.NewGaugeVec(prometheus.GaugeOpts{Name: "onerow_quota_oldest_mark_seconds",
			Help: "Age of the oldest mark of a quota, as of the last minute; 0: there is none."}, nil),
	}, nil
}

// Watch adds the figures of the connection pool.
func (m *Metrics) Watch(db *sql.DB) error {
	return m.registry.Register(collectors.NewDBStatsCollector(db, "worker"))
}

// MeasureEvery is how long the figures of the whole queue are used for further scrapes.
const MeasureEvery = time.Second

// measureTimeout is what a scrape may take of the database's time.
const measureTimeout = 3 * time.Second

// Handler measures the queue and answers with everything. While the database does not answer, the counts of
// the process are still told, and the old figures of the queue with the time they are from.
func (m *Metrics) Handler(db *sql.DB, log *slog.Logger) http.Handler {
	serve := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := m.measure(r.Context(), db); err != nil {
			log.WarnContext(r.Context(), "metrics: the queue cannot be measured", "error", output.OneLine(err.Error()))
		}
		serve.ServeHTTP(w, r)
	})
}

func (m *Metrics) measure(ctx context.Context, db *sql.DB) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.measured) < MeasureEvery {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, measureTimeout)
	defer cancel()
	err := m.Measure(ctx, db)
	m.measured = time.Now()
	return errors.Join(err, m.count(ctx, db))
}

// countEvery is for how long the figures of the purge, of the trash and of limits are used, and mostWaiting
// where they end: each reads so many entries of an index at most.
const (
	countEvery  = time.Minute
	mostWaiting = 1000
)

// count counts what waits for the purge. What cannot be counted, for want of a right or of a table, has no
// figure.
func (m *Metrics) count(ctx context.Context, db *sql.DB) error {
	if time.Since(m.figured) < countEvery {
		return nil
	}
	m.figured = time.Now()
	for _, kind := range m.Kinds {
		n, err := kind.Waiting(ctx, db, mostWaiting)
		if ctx.Err() != nil {
			return err
		}
		if m.waiting.DeleteLabelValues(kind.Name); err == nil {
			m.waiting.WithLabelValues(kind.Name).Set(float64(n))
		}
	}
	m.weigh(ctx, db)
	m.limits(ctx, db)
	return nil
}

// mostOwners is how many rows of a limit, of its reservations and of marks are counted at most.
const mostOwners = 20_000

// limits says how full limits are, and what waits for the sweepers of limits and quotas. What this user may
// not read has no figure; what cannot be read just now keeps its last one.
func (m *Metrics) limits(ctx context.Context, db *sql.DB) {
	all, err := waiting.Limits(ctx, db, mostOwners)
	if readable(err, m.owners, m.counted) {
		for _, l := range all {
			name := output.Printable(l.Name) // a label has to be UTF-8
			for what, n := range map[string]int64{"all": l.Owners, "full": l.Full, "recount": l.Recount} {
				m.owners.WithLabelValues(name, what).Set(float64(n))
			}
			m.counted.WithLabelValues(name).Set(l.Counted.Seconds())
		}
	}
	reserved, err := waiting.Expired(ctx, db, mostOwners)
	if readable(err, m.expired, m.oldest) {
		for _, r := range reserved {
			m.expired.WithLabelValues(output.Printable(r.Name)).Set(float64(r.Expired))
			m.oldest.WithLabelValues(output.Printable(r.Name)).Set(r.Oldest.Seconds())
		}
	}
	marks, oldest, err := waiting.Quotas(ctx, db, mostOwners)
	if readable(err, m.marks, m.oldestMark) {
		m.marks.WithLabelValues().Set(float64(marks))
		m.oldestMark.WithLabelValues().Set(oldest.Seconds())
	}
}

// readable says whether figures were read, and empties the gauges for them, or because the server refuses
// them to this user or has no such table.
func readable(err error, of ...*prometheus.GaugeVec) bool {
	if err == nil || ownrows.NoTable(err) || fault.Denied(err) {
		for _, g := range of {
			g.Reset()
		}
	}
	return err == nil
}

// mostSteps is how many steps of the trash are added up at most.
const mostSteps = 100_000

// weigh says how much there is in the trash; where it cannot be read there is no figure.
func (m *Metrics) weigh(ctx context.Context, db *sql.DB) {
	m.trash.Reset()
	size, err := admin.ReadTrashSize(ctx, db, mostSteps)
	if err != nil {
		return
	}
	for what, n := range map[string]int64{"rows": size.Rows, "references": size.References, "stuck": size.Stuck, "expired": size.Expired} {
		m.trash.WithLabelValues(what).Set(float64(n))
	}
}

// PurgedRows counts what was purged.
func (m *Metrics) PurgedRows(kind string, rows int64) {
	m.purged.WithLabelValues(kind).Add(float64(rows))
}

// Observe counts an event of the worker.
func (m *Metrics) Observe(e cascade.Event) {
	m.Metrics.Observe(e)
	if e.Retained != "" {
		m.retained.WithLabelValues(e.Retained).Add(float64(e.Queued))
	}
	if e.AllQueued {
		m.looked.WithLabelValues(e.Retained).SetToCurrentTime()
	}
}

// Orphans says how many missing rows a search has found.
func (m *Metrics) Orphans(rows int) {
	m.orphans.Set(float64(rows))
	m.searched.SetToCurrentTime()
}
