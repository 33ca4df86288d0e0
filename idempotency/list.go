package idempotency

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
)

// ListOptions say what List shows.
type ListOptions struct {
	// Status is InProgress or Failed. Required.
	Status Status
	// Waiting leaves out what does not wait for a human: it shows those in progress whose expected completion
	// has passed, or those whose error is marked for attention, and has not expired.
	Waiting bool
	// After is the last entry of the page before; the zero Entry for the first page.
	After Entry
	// Limit is how many are returned at most. Default 100.
	Limit int
}

const defaultListLimit = 100

// overdue and errored are what waits for a human, by the index state. An operator's Expire of an earlier
// version left the mark on.
const (
	overdue = `status = 'in_progress' AND attention = 0 AND expected_completion <= UTC_TIMESTAMP(6)`
	errored = `status = 'error' AND attention = 1 AND COALESCE(expires_at > UTC_TIMESTAMP(6), TRUE)`
)

// where is the range of the index state that a list reads, without locks; empty for one
// that is not known.
func (o ListOptions) where() string {
	switch {
	case o.Status == InProgress && o.Waiting:
		return overdue
	case o.Status == Failed && o.Waiting:
		return errored
	case o.Status == InProgress:
		return `status = 'in_progress'`
	case o.Status == Failed:
		return `status = 'error'`
	}
	return ""
}

// The order is that of the index state, which ends in the primary key: a page begins behind
// the entry of the page before, and ends at its limit.
const (
	sqlListHead = `SELECT ` + entryColumns + ` FROM onerow_key FORCE INDEX (state) WHERE `
	sqlListTail = ` AND (attention > ? OR attention = ? AND (expected_completion > ` + sqlMoment + ` OR ? IS NULL AND expected_completion IS NOT NULL
 OR expected_completion <=> ` + sqlMoment + ` AND (tenant > ? OR tenant = ? AND (operation > ? OR operation = ? AND idem_key > ?))))
 ORDER BY attention, expected_completion, tenant, operation, idem_key LIMIT ?`
	sqlMoment = `(TIMESTAMP'1970-01-01 00:00:00' + INTERVAL ? MICROSECOND)`
)

// List shows keys for operators: those that were expected first come first, those that are
// marked for attention last. A key whose holder extends its claim between two pages is on
// both. One statement, which reads as many index entries as it shows.
func (k *Keys) List(ctx context.Context, db onerow.DB, o ListOptions) ([]Entry, error) {
	where := o.where()
	if where == "" || o.Limit < 0 {
		return nil, fmt.Errorf("%w: List of %q, at most %d", ErrInvalid, o.Status, o.Limit)
	}
	if o.Limit == 0 {
		o.Limit = defaultListLimit
	}
	t, op, id := []byte(o.After.Key.Tenant), []byte(o.After.Key.Operation), []byte(o.After.Key.ID)
	var expected any // NULL: none of the keys before has a time
	if at := o.After.ExpectedCompletion; !at.IsZero() {
		expected = at.UnixMicro()
	}
	mark := o.After.Attention
	var list []Entry
	err := single(ctx, db, func(db onerow.DB) error {
		list = nil
		return onerow.Query(ctx, db, sqlListHead+where+sqlListTail, []any{mark, mark, expected, expected, expected, t, t, op, op, id, o.Limit}, func(rows *sql.Rows) error {
			var e Entry
			err := rows.Scan(e.dest()...)
			list = append(list, e)
			return err
		})
	})
	return list, err
}

// Find shows one key; [ErrNoKey] if there is no row. One statement.
func (k *Keys) Find(ctx context.Context, db onerow.DB, key Key) (Entry, error) {
	if err := key.Check(); err != nil {
		return Entry{}, err
	}
	var r *row
	err := single(ctx, db, func(db onerow.DB) (err error) { r, err = read(ctx, db, sqlRead, key); return err })
	switch {
	case err != nil:
		return Entry{}, err
	case r == nil:
		return Entry{}, fmt.Errorf("%w: %s", ErrNoKey, key)
	}
	return r.Entry, nil
}
