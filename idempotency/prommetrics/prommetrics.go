// Package prommetrics gives the counts and gauges of package idempotency to Prometheus:
//
//	metrics, err := prommetrics.New(prometheus.DefaultRegisterer)
//	keys, err := idempotency.New(idempotency.Config{Metrics: metrics})
//
//	onerow_idempotency_events_total{event, operation}   counter: started, completed, replayed, …
//	onerow_idempotency_keys{state}                      gauge: in_progress, overdue, errored
//
// The gauges are as old as the last call of keyadmin.Measure, and count the whole table: call it from one
// process, and take the maximum over processes otherwise. Alert on overdue and errored above 0, and on the
// events completion_lost and lost.
//
// Not guaranteed: that the counts survive the process, or that they are exact after a crash; the table is the
// record.
//
// Open this package when a metric of the keys is added or renamed.
package prommetrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/onerow/onerow/idempotency"
)

// Metrics implements idempotency.Metrics. It may be used from many goroutines.
type Metrics struct {
	events *prometheus.CounterVec
	keys   *prometheus.GaugeVec
}

var _ idempotency.Metrics = (*Metrics)(nil)

// New makes the collectors and registers them. Registering twice is an error of reg's.
func New(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "onerow_idempotency_events_total", Help: "What happened to idempotency keys.",
		}, []string{"event", "operation"}),
		keys: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "onerow_idempotency_keys", Help: "Idempotency keys that are open, by state, when last measured.",
		}, []string{"state"}),
	}
	for _, c := range []prometheus.Collector{m.events, m.keys} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("prommetrics: %w", err)
		}
	}
	return m, nil
}

// Add counts.
func (m *Metrics) Add(event, operation string, n int) {
	m.events.WithLabelValues(event, operation).Add(float64(n))
}

// Set sets a gauge.
func (m *Metrics) Set(gauge string, n int64) {
	m.keys.WithLabelValues(gauge).Set(float64(n))
}
