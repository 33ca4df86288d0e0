package idempotency

import (
	"context"

	"github.com/onerow/onerow"
)

// Event is what [Metrics] counts.
type Event string

// The events.
const (
	EventStarted    Event = "started"    // Begin acquired a key, or Do ran its function
	EventTakenOver  Event = "taken_over" // Begin acquired a key whose lease had ended; started is counted too
	EventCompleted  Event = "completed"
	EventFailed     Event = "failed"     // an error was stored
	EventReleased   Event = "released"   // not done
	EventReplayed   Event = "replayed"   // a stored result or error was given back
	EventConflicted Event = "conflicted" // busy, or in progress elsewhere
	EventMismatched Event = "mismatched"
	EventLost       Event = "lost"            // somebody wrote with a claim that is lost
	EventUnwritten  Event = "completion_lost" // the outcome of work could not be written
	EventAdmitted   Event = "admitted"
	EventRefused    Event = "refused" // by Admit
	EventPurged     Event = "purged"
)

// Gauge is what [Keys.Measure] measures.
type Gauge string

// The gauges. Alert on Overdue and Errored: they wait for a human.
const (
	GaugeInProgress Gauge = "in_progress"
	GaugeOverdue    Gauge = "overdue"
	GaugeErrored    Gauge = "errored" // failed with Attention
)

// Metrics gets counts and gauges. It is called on the caller's goroutine and must not
// block. Package prommetrics has one for Prometheus.
type Metrics interface {
	// Add counts n events. operation is that of the key, empty for purged.
	Add(event Event, operation string, n int)
	// Set reports a gauge of the whole table.
	Set(gauge Gauge, n int64)
}

type discard struct{}

func (discard) Add(Event, string, int) {}
func (discard) Set(Gauge, int64)       {}

func (k *Keys) event(e Event, key Key) { k.cfg.Metrics.Add(e, key.Operation, 1) }

// sqlMeasure counts three ranges of the index state and locks nothing.
const sqlMeasure = `SELECT
  (SELECT COUNT(*) FROM onerow_key FORCE INDEX (state) WHERE status = 'in_progress'),
  (SELECT COUNT(*) FROM onerow_key FORCE INDEX (state) WHERE status = 'in_progress' AND attention = 0 AND expected_completion <= UTC_TIMESTAMP(6)),
  (SELECT COUNT(*) FROM onerow_key FORCE INDEX (state) WHERE status = 'error' AND attention = 1 AND ` + unexpired + `)`

// Measures are the gauges of the whole table.
type Measures struct {
	InProgress int64 `json:"in_progress"`
	Overdue    int64 `json:"overdue"` // of those in progress
	Errored    int64 `json:"errored"` // with Attention
}

// Measure counts what is open and reports it to the metrics. Call it now and then,
// from one process. One statement, over as many index entries as are open.
func (k *Keys) Measure(ctx context.Context, db onerow.DB) (Measures, error) {
	var m Measures
	err := single(ctx, db, func(db onerow.DB) error {
		return onerow.QueryRow(ctx, db, sqlMeasure, nil, &m.InProgress, &m.Overdue, &m.Errored)
	})
	if err != nil {
		return m, err
	}
	k.cfg.Metrics.Set(GaugeInProgress, m.InProgress)
	k.cfg.Metrics.Set(GaugeOverdue, m.Overdue)
	k.cfg.Metrics.Set(GaugeErrored, m.Errored)
	return m, nil
}
