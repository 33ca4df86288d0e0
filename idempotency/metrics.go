package idempotency

import (
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
	e, hasError := errors.AsType[*Error](err)
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
