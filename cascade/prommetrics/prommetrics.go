// Package prommetrics gives what cascade workers do, and how long their queue is, to
// Prometheus:
//
//	metrics, err := prommetrics.New(prometheus.DefaultRegisterer)
//	worker, err := cascade.NewWorker(db, plan, cascade.Config{OnEvent: metrics.Observe})
//	err = metrics.Measure(ctx, db) // before each scrape, or now and then
//
// Counted by this process, since it started:
//
//	onerow_cascade_batch_seconds             histogram: how long committed batches took
//	onerow_cascade_deleted_rows_total{table}
//	onerow_cascade_detached_rows_total{table}
//	onerow_cascade_parked_rows_total{table}
//	onerow_cascade_jobs_ended_total{state}   attempts by the state that they left the job in:
//	                                         done, leftovers, dead; ready for one to be repeated
//	onerow_cascade_lease_losses_total        jobs that another worker took over
//	onerow_cascade_throttled{reason}         gauge, 1 while this worker waits: paused, threads,
//	                                         lag, query, load, throttle (the application's own)
//
// Of the whole database, as old as the last call of Measure:
//
//	onerow_cascade_jobs{state}               gauge: scheduled, held, paused, ready, running,
//	                                         dead, leftovers
//	onerow_cascade_oldest_due_seconds        gauge: how long a job has been due and not taken; 0: none is
//	onerow_cascade_parked_rows               gauge: rows that wait for somebody
//	onerow_cascade_paused                    gauge: 1 while the pause switch is on
//	onerow_cascade_workers                   gauge: workers seen in the last 30 seconds
//	onerow_cascade_measured_timestamp_seconds gauge: when that was, by this process's clock
//
// Take the maximum over processes of the latter, and the sum of the former. Labels are
// bounded: table is one of the plan's, state and reason are of the lists above.
//
// Not guaranteed: that counts survive the process, or that they are exact after a crash; the
// tables are the record.
//
// Open this package when a worker's metric is added or renamed.
package prommetrics

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/queue"
)

// Metrics counts what workers tell. It may be used from many goroutines and by
// several workers, but only the last one's throttle is then to be seen.
type Metrics struct {
	batch                            prometheus.Histogram
	deleted, detached, parked, ended *prometheus.CounterVec
	leases                           prometheus.Counter
	throttled, jobs                  *prometheus.GaugeVec
	oldest, waiting, paused, workers prometheus.Gauge
	measured                         prometheus.Gauge
}

const prefix = "onerow_cascade_"

func counters(name, help, label string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, []string{label})
}

func gauges(name, help, label string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, []string{label})
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + name, Help: help})
}

// New makes the collectors and registers them. Registering twice is an error of reg's.
func New(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		batch: prometheus.NewHistogram(prometheus.HistogramOpts{Name: prefix + "batch_seconds", Help: "How long committed batches took.",
			Buckets: []float64{.002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10}}),
		deleted:   counters("deleted_rows_total", "Rows that were deleted, by table.", "table"),
		detached:  counters("detached_rows_total", "Rows whose reference to a deleted row was set NULL, by table.", "table"),
		parked:    counters("parked_rows_total", "Rows that could not be deleted and were parked, by table.", "table"),
		ended:     counters("jobs_ended_total", "Attempts to work a job, by the state that they left it in.", "state"),
		leases:    prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + "lease_losses_total", Help: "Jobs that another worker took over."}),
		throttled: gauges("throttled", "1 while this worker waits for that reason.", "reason"),
		jobs:      gauges("jobs", "Jobs of the database that are open or wait for somebody, by state, when last measured.", "state"),
		oldest:    gauge("oldest_due_seconds", "For how long a job has been due that no worker has, when last measured."),
		waiting:   gauge("parked_rows", "Parked rows that wait for somebody, when last measured."),
		paused:    gauge("paused", "1 while the pause switch is on, when last measured."),
		workers:   gauge("workers", "Workers that were seen in the 30 seconds before it was last measured."),
		measured:  gauge("measured_timestamp_seconds", "When the queue was last measured, by this process's clock."),
	}
	for _, c := range []prometheus.Collector{m.batch, m.deleted, m.detached, m.parked, m.ended, m.leases, m.throttled,
		m.jobs, m.oldest, m.waiting, m.paused, m.workers, m.measured} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("prommetrics: %w", err)
		}
	}
	for _, kind := range governor.Kinds() {
		m.throttled.WithLabelValues(kind).Set(0)
	}
	for _, state := range []queue.State{queue.Ready, queue.Done, queue.Leftovers, queue.Dead} {
		m.ended.WithLabelValues(string(state)).Add(0)
	}
	return m, nil
}

// Observe counts an event of a worker: it is for cascade.Config.OnEvent.
func (m *Metrics) Observe(e cascade.Event) {
	switch {
	case e.Took > 0:
		m.batch.Observe(e.Took.Seconds())
		addRows(m.deleted, e.Deleted)
		addRows(m.detached, e.Detached)
	case e.ParkedIn != "":
		m.parked.WithLabelValues(e.ParkedIn).Inc()
	case e.LeaseLost:
		m.leases.Inc()
	case e.Ended != "":
		m.ended.WithLabelValues(string(e.Ended)).Inc()
	case e.Throttled != nil:
		now := governor.KindOf(*e.Throttled)
		for _, kind := range governor.Kinds() {
			m.throttled.WithLabelValues(kind).Set(number(kind == now))
		}
	}
}

func addRows(to *prometheus.CounterVec, rows map[string]int64) {
	for table, n := range rows {
		to.WithLabelValues(table).Add(float64(max(n, 0)))
	}
}

// Measure reads the figures of the database, see [admin.ReadStats], and sets the
// gauges. On an error they stay as they were. One statement.
func (m *Metrics) Measure(ctx context.Context, db onerow.DB) error {
	s, err := admin.ReadStats(ctx, db)
	if err != nil {
		return err
	}
	for state, n := range s.Open {
		m.jobs.WithLabelValues(string(state)).Set(float64(n))
	}
	m.jobs.WithLabelValues(string(queue.Dead)).Set(float64(s.Dead))
	m.jobs.WithLabelValues(string(queue.Leftovers)).Set(float64(s.Leftovers))
	m.oldest.Set(s.OldestAge.Seconds())
	m.waiting.Set(float64(s.Parked))
	m.paused.Set(number(s.Paused.On))
	m.workers.Set(float64(s.Workers))
	m.measured.SetToCurrentTime()
	return nil
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
