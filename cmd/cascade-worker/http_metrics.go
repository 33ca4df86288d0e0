package main

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/onerow/onerow/cascade/prommetrics"
)

// metrics are this process's, in a registry of their own: nothing that a library
// registers by itself gets in.
type metrics struct {
	*prommetrics.Metrics
	registry *prometheus.Registry

	mu       sync.Mutex
	measured time.Time
}

func newMetrics() (*metrics, error) {
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewBuildInfoCollector(),
	} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	m, err := prommetrics.New(registry)
	if err != nil {
		return nil, err
	}
	return &metrics{Metrics: m, registry: registry}, nil
}

// watch adds the figures of the connection pool.
func (m *metrics) watch(db *sql.DB) error {
	return m.registry.Register(collectors.NewDBStatsCollector(db, "worker"))
}

// measureEvery is how long the figures of the whole queue are used for further scrapes.
const measureEvery = time.Second

// handler measures the queue and answers with everything. While the database does not
// answer, the counts of the process are still told, and the old figures of the queue with
// the time they are from.
func (m *metrics) handler(db *sql.DB, log *slog.Logger) http.Handler {
	serve := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := m.measure(r.Context(), db); err != nil {
			log.WarnContext(r.Context(), "metrics: the queue cannot be measured", "error", oneLine(err.Error()))
		}
		serve.ServeHTTP(w, r)
	})
}

func (m *metrics) measure(ctx context.Context, db *sql.DB) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.measured) < measureEvery {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := m.Measure(ctx, db)
	m.measured = time.Now()
	return err
}
