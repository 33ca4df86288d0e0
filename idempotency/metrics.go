package idempotency

import (
	"context"
	"errors"

	"github.com/onerow/onerow"
)

// Metrics gets counts and gauges. It is called on the caller's goroutine and must not
// block. Package prommetrics has one for Prometheus.
type Metrics interface {
	// Add counts n events. operation is that of the key, empty for purged. The events are
	//
	//	started          Begin acquired a key, or Do ran its function
	//	taken_over       Begin acquired a key whose lease had ended; started is counted too
	//	completed, failed, released
	//	replayed         a stored result or error was given back
	//	conflicted       busy, or in progress elsewhere
	//	mismatched
	//	lost             somebody wrote with a claim that is lost
	//	completion_lost  the outcome of work could not be written
	//	admitted, refused by Admit
	//	purged
	Add(event, operation string, n int)
	// Set reports a gauge of the whole table: in_progress, overdue of those, or errored, which failed with
	// Attention. Alert on the last two, which wait for a human.
	Set(gauge string, n int64)
}

type discard struct{}

func (discard) Add(string, string, int) {}
func (discard) Set(string, int64)       {}

func (k *Keys) event(event string, key Key) { k.cfg.Metrics.Add(event, key.Operation, 1) }

// tell counts what the answer of Do or Begin is, and remembers a key that has ended.
func (k *Keys) tell(db onerow.DB, c *call, fresh bool, err error) {
	var e *Error
	hasError := errors.As(err, &e)
	event := ""
	switch {
	case err == nil && fresh:
		event = "completed"
	case err == nil, hasError && e.Replayed:
		event = "replayed"
	case errors.Is(err, ErrFailed):
		event = "failed"
	case errors.Is(err, ErrMismatch):
		event = "mismatched"
	case errors.Is(err, ErrBusy), errors.Is(err, ErrInProgress):
		event = "conflicted"
	default:
		return
	}
	k.event(event, c.key)
	if (err == nil || errors.Is(err, ErrFailed)) && !joined(db) {
		k.ended.add(c.key)
	}
}

// sqlMeasure counts three ranges of the index state and locks nothing.
const sqlMeasure = `SELECT (SELECT COUNT(*) FROM onerow_key FORCE INDEX (state) WHERE status = 'in_progress'),
  (SELECT COUNT(*) FROM onerow_key FORCE INDEX (state) WHERE ` + overdue + `), (SELECT COUNT(*) FROM onerow_key FORCE INDEX (state) WHERE ` + errored + `)`

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
	k.cfg.Metrics.Set("in_progress", m.InProgress)
	k.cfg.Metrics.Set("overdue", m.Overdue)
	k.cfg.Metrics.Set("errored", m.Errored)
	return m, nil
}
