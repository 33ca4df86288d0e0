package idempotency

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"slices"
	"time"

	"github.com/onerow/onerow"
)

// Status is the state of a key.
type Status string

// The states of a key, see the package documentation. An expired one keeps its
// state until it is claimed anew or purged.
const (
	InProgress Status = "in_progress"
	Completed  Status = "complete"
	Failed     Status = "error"
	Released   Status = "released"
)

// Entry is a key as its row shows it. Times are the database's, in UTC; the zero time where there is none.
type Entry struct {
	Key    Key    `json:"key"`
	Status Status `json:"status"`
	Token  int64  `json:"token"`
	// Attention: the error waits for a human.
	Attention bool `json:"attention"`
	// Overdue: in progress for longer than was expected.
	Overdue bool `json:"overdue"`
	// Expired: as if it were absent.
	Expired bool `json:"expired"`
	// Holder is who has the key or had it last.
	Holder             string        `json:"holder"`
	Since              time.Time     `json:"since"` // the holder's claim
	Age                time.Duration `json:"age"`   // since then, in nanoseconds
	ExpectedCompletion time.Time     `json:"expected_completion"`
	LeaseUntil         time.Time     `json:"lease_until"`
	CompletedAt        time.Time     `json:"completed_at"`
	ExpiresAt          time.Time     `json:"expires_at"`
	Error              string        `json:"error,omitempty"`
	// Traceparent is the W3C traceparent of the holder's claim, if it was traced.
	Traceparent string `json:"traceparent,omitempty"`
}

type row struct {
	Entry
	version     int64
	callToken   []byte
	fingerprint []byte
	free        bool // absent for whoever wants to claim it
	result      stored
}

// atKey finds one row by the primary key.
const atKey = ` WHERE tenant = ? AND operation = ? AND idem_key = ?`

// sqlFree: who may claim the row. NULLs are in the way of none: COALESCE.
const sqlFree = `(status = 'released' OR COALESCE(expires_at <= UTC_TIMESTAMP(6), FALSE)
  OR (status = 'in_progress' AND COALESCE(lease_until <= UTC_TIMESTAMP(6), FALSE)))`

// EntryColumns are what a SELECT of onerow_key has for [Entry.ScanRow]. UTC_TIMESTAMP is the same throughout
// a statement. Texts come as bytes, see package dbtext.
const EntryColumns = `tenant, operation, idem_key, status, token, attention,
  status = 'in_progress' AND COALESCE(expected_completion <= UTC_TIMESTAMP(6), FALSE), COALESCE(expires_at <= UTC_TIMESTAMP(6), FALSE), CAST(locked_by AS BINARY),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', locked_at), TIMESTAMPDIFF(MICROSECOND, locked_at, UTC_TIMESTAMP(6)) * 1000,
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', expected_completion), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', lease_until),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', completed_at), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', expires_at), COALESCE(CAST(error AS BINARY), ''), COALESCE(traceparent, '')`

// ScanRow reads the EntryColumns of a row.
func (e *Entry) ScanRow(rows *sql.Rows) error { return rows.Scan(e.dest()...) }

// dest is where EntryColumns go.
func (e *Entry) dest() []any {
	return []any{&e.Key.Tenant, &e.Key.Operation, &e.Key.ID, &e.Status, &e.Token, &e.Attention, &e.Overdue, &e.Expired, &e.Holder,
		(*moment)(&e.Since), &e.Age, (*moment)(&e.ExpectedCompletion), (*moment)(&e.LeaseUntil), (*moment)(&e.CompletedAt), (*moment)(&e.ExpiresAt), &e.Error, &e.Traceparent}
}

// moment is a time that is read as microseconds, or NULL.
type moment time.Time

func (m *moment) Scan(src any) error {
	var us sql.NullInt64
	err := us.Scan(src)
	*m = moment{}
	if us.Valid {
		*m = moment(time.UnixMicro(us.Int64).UTC())
	}
	return err
}

// sqlRead is a plain read by the primary key, for what is final once it is seen.
const sqlRead = `SELECT ` + EntryColumns + `, version, call_token, fingerprint, ` + sqlFree + `, COALESCE(codec <> '` + jsonForm + `', FALSE), result, is_reference
FROM onerow_key` + atKey

// sqlReadCurrent waits for whoever is writing the row, and sees what is committed even where the snapshot of
// a REPEATABLE READ transaction is older. After a 1062 the share lock is held already.
const sqlReadCurrent = sqlRead + ` LOCK IN SHARE MODE`

// read returns the row, or nil if there is none. One statement.
func read(ctx context.Context, db onerow.DB, query string, key Key) (*row, error) {
	return scanRow(func(scan func(*sql.Rows) error) error { return onerow.Query(ctx, db, query, key.args(), scan) })
}

// scanRow returns the row that a query finds, or nil if there is none.
func scanRow(query func(scan func(*sql.Rows) error) error) (found *row, err error) {
	err = query(func(rows *sql.Rows) error {
		r := &row{}
		found = r
		return rows.Scan(append(r.dest(), &r.version, &r.callToken, &r.fingerprint, &r.free, &r.result.foreign, &r.result.data, &r.result.reference)...)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// mine says whether this call wrote the row, in an attempt whose answer was lost.
func (r *row) mine(c *call) bool { return bytes.Equal(r.callToken, c.token[:]) }

func (r *row) differs(c *call) bool {
	return r.fingerprint != nil && c.fingerprint != nil && !bytes.Equal(r.fingerprint, c.fingerprint) &&
		!slices.ContainsFunc(c.former, func(sum [sha256.Size]byte) bool { return bytes.Equal(r.fingerprint, sum[:]) })
}

// payload is the fingerprint of the row when c has claimed it: a call that gives none leaves the one of the
// work that was not done.
func (r *row) payload(c *call) []byte {
	if c.fingerprint == nil && !r.Expired {
		return r.fingerprint
	}
	return c.fingerprint
}

// nullable keeps missing bytes NULL: a nil slice in an interface is not nil.
func nullable(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}
