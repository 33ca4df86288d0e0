package keyadmin

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/answers"
)

// ListOptions say what List shows.
type ListOptions struct {
	// Status is idempotency.InProgress or Failed. Required.
	Status idempotency.Status
	// Waiting leaves out what does not wait for a human: it shows those in progress whose expected completion
	// has passed, or those whose error is marked for attention, and has not expired.
	Waiting bool
	// After is the last entry of the page before; the zero Entry for the first page.
	After idempotency.Entry
	// Limit is how many are returned at most. Default 100.
	Limit int
}

const defaultListLimit = 100

// The ranges of the index state that lists and gauges read, without locks. overdue and errored are what waits
// for a human. An operator's Expire of an earlier version left the mark on.
const (
	inProgress = ` FORCE INDEX (state) WHERE status = 'in_progress'`
	overdue    = inProgress + ` AND attention = 0 AND expected_completion <= UTC_TIMESTAMP(6)`
	failed     = ` FORCE INDEX (state) WHERE status = 'error'`
	errored    = failed + ` AND attention = 1 AND COALESCE(expires_at > UTC_TIMESTAMP(6), TRUE)`
)

// sqlPage begins a page behind the entry of the page before, and ends it at its limit, in the order of the
// index state, which ends in the primary key.
const (
	sqlPage = ` AND (attention > ? OR attention = ? AND (expected_completion > ` + sqlMoment + ` OR ? IS NULL AND expected_completion IS NOT NULL
 OR expected_completion <=> ` + sqlMoment + ` AND (tenant > ? OR tenant = ? AND (operation > ? OR operation = ? AND idem_key > ?))))
 ORDER BY attention, expected_completion, tenant, operation, idem_key LIMIT ?`
	sqlMoment = `(TIMESTAMP'1970-01-01 00:00:00' + INTERVAL ? MICROSECOND)`
)

// List shows keys for operators: those that were expected first come first, those that are
// marked for attention last. A key whose holder extends its claim between two pages is on
// both. One statement, which reads as many index entries as it shows.
func List(ctx context.Context, db onerow.DB, o ListOptions) ([]idempotency.Entry, error) {
	index, known := map[idempotency.Status]map[bool]string{
		idempotency.InProgress: {false: inProgress, true: overdue}, idempotency.Failed: {false: failed, true: errored},
	}[o.Status]
	if !known || o.Limit < 0 {
		return nil, fmt.Errorf("%w: List of %q, at most %d", idempotency.ErrInvalid, o.Status, o.Limit)
	}
	o.Limit = cmp.Or(o.Limit, defaultListLimit)
	t, op, id := []byte(o.After.Key.Tenant), []byte(o.After.Key.Operation), []byte(o.After.Key.ID)
	var expected any // NULL: none of the keys before has a time
	if at := o.After.ExpectedCompletion; !at.IsZero() {
		expected = at.UnixMicro()
	}
	mark := o.After.Attention
	return entries(ctx, db, index[o.Waiting]+sqlPage, mark, mark, expected, expected, expected, t, t, op, op, id, o.Limit)
}

// entries reads rows of onerow_key; clauses are what follows the table's name. One statement.
func entries(ctx context.Context, db onerow.DB, clauses string, args ...any) (list []idempotency.Entry, err error) {
	err = onerow.Alone(ctx, db, func(ctx context.Context, db onerow.DB) error {
		list = nil
		return onerow.Query(ctx, db, "SELECT "+idempotency.EntryColumns+" FROM onerow_key"+clauses, args, func(rows *sql.Rows) error {
			var e idempotency.Entry
			err := e.ScanRow(rows)
			list = append(list, e)
			return err
		})
	})
	return list, err
}

// ErrNoKey means that there is no such key.
var ErrNoKey = answers.New(404, "no such key", "keyadmin: no such key")

// Find shows one key; [ErrNoKey] if there is no row. One statement.
func Find(ctx context.Context, db onerow.DB, key idempotency.Key) (idempotency.Entry, error) {
	if err := key.Check(); err != nil {
		return idempotency.Entry{}, err
	}
	found, err := entries(ctx, db, atKey, keyArgs(key)...)
	switch {
	case err != nil:
		return idempotency.Entry{}, err
	case len(found) == 0:
		return idempotency.Entry{}, fmt.Errorf("%w: %s", ErrNoKey, key)
	}
	return found[0], nil
}

// atKey finds one row by the primary key.
const atKey = ` WHERE tenant = ? AND operation = ? AND idem_key = ?`

// keyArgs are the arguments of atKey, as bytes, and more.
func keyArgs(k idempotency.Key, more ...any) []any {
	return append([]any{[]byte(k.Tenant), []byte(k.Operation), []byte(k.ID)}, more...)
}

// sqlMeasure counts three ranges of the index state and locks nothing.
const sqlMeasure = `SELECT (SELECT COUNT(*) FROM onerow_key` + inProgress + `), (SELECT COUNT(*) FROM onerow_key` + overdue + `), (SELECT COUNT(*) FROM onerow_key` + errored + `)`

// Measures are the gauges of the whole table.
type Measures struct {
	InProgress int64 `json:"in_progress"`
	Overdue    int64 `json:"overdue"` // of those in progress
	Errored    int64 `json:"errored"` // with Attention
}

// Measure counts what is open and reports it to the metrics of keys. Call it now and then,
// from one process. One statement, over as many index entries as are open.
func Measure(ctx context.Context, db onerow.DB, keys *idempotency.Keys) (Measures, error) {
	var m Measures
	err := onerow.Alone(ctx, db, func(ctx context.Context, db onerow.DB) error {
		return onerow.QueryRow(ctx, db, sqlMeasure, nil, &m.InProgress, &m.Overdue, &m.Errored)
	})
	if err != nil {
		return m, err
	}
	metrics := keys.Config().Metrics
	metrics.Set("in_progress", m.InProgress)
	metrics.Set("overdue", m.Overdue)
	metrics.Set("errored", m.Errored)
	return m, nil
}
