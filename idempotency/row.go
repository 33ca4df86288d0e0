package idempotency

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow"
)

// row is a key as it is stored.
type row struct {
	Entry
	version     int64
	callToken   []byte
	fingerprint []byte
	free        bool // absent for whoever wants to claim it
	result      stored
	sinceEnd    time.Duration // from completed_at until the row was read
	asked       time.Time     // when it was sent for, monotonic
}

// atKey finds one row by the primary key.
const atKey = ` WHERE tenant = ? AND operation = ? AND idem_key = ?`

// sqlFree: who may claim the row. NULLs are in the way of none: COALESCE.
const sqlFree = `(status = 'released' OR COALESCE(expires_at <= UTC_TIMESTAMP(6), FALSE)
  OR (status = 'in_progress' AND COALESCE(lease_until <= UTC_TIMESTAMP(6), FALSE)))`

// entryColumns are those of an [Entry]. UTC_TIMESTAMP is the same throughout a statement. Texts
// come as bytes, see package dbtext.
const entryColumns = `tenant, operation, idem_key, status, token, attention,
  status = 'in_progress' AND COALESCE(expected_completion <= UTC_TIMESTAMP(6), FALSE), COALESCE(expires_at <= UTC_TIMESTAMP(6), FALSE), CAST(locked_by AS BINARY),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', locked_at), TIMESTAMPDIFF(MICROSECOND, locked_at, UTC_TIMESTAMP(6)),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', expected_completion), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', lease_until),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', completed_at), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', expires_at), CAST(error AS BINARY)`

// sqlRead is a plain read by the primary key, for what is final once it is seen.
const sqlRead = `SELECT ` + entryColumns + `, version, call_token, fingerprint, ` + sqlFree + `, codec, result, is_reference,
  TIMESTAMPDIFF(MICROSECOND, completed_at, UTC_TIMESTAMP(6))
FROM onerow_key` + atKey

// sqlReadCurrent waits for whoever is writing the row, and sees what is committed
// even where the snapshot of a REPEATABLE READ transaction is older. After a 1062 the
// share lock is held already.
const sqlReadCurrent = sqlRead + ` LOCK IN SHARE MODE`

// read returns the row, or nil if there is none. One statement.
func read(ctx context.Context, db onerow.DB, query string, key Key) (*row, error) {
	return scanRow(func(scan func(*sql.Rows) error) error { return onerow.Query(ctx, db, query, key.args(), scan) })
}

// scanRow returns the row that a query finds, or nil if there is none.
func scanRow(query func(scan func(*sql.Rows) error) error) (*row, error) {
	var r row
	var codec sql.NullString
	var reference bool
	var data []byte
	var sinceEnd sql.NullInt64
	r.asked = time.Now()
	fields := entryFields{e: &r.Entry}
	dest := append(fields.dest(), &r.version, &r.callToken, &r.fingerprint, &r.free, &codec, &data, &reference, &sinceEnd)
	found := false
	err := query(func(rows *sql.Rows) error {
		found = true
		return rows.Scan(dest...)
	})
	if err != nil || !found {
		return nil, err
	}
	fields.fill()
	r.result = stored{codec: codec.String, data: data, reference: reference}
	r.sinceEnd = duration(sinceEnd.Int64)
	return &r, nil
}

// entryFields are the destinations of entryColumns.
type entryFields struct {
	e                                   *Entry
	since, age                          int64
	expected, lease, completed, expires sql.NullInt64
	tenant, operation, id               []byte
	status, holder                      string
	failure                             sql.NullString
}

func (f *entryFields) dest() []any {
	return []any{&f.tenant, &f.operation, &f.id, &f.status, &f.e.Token, &f.e.Attention, &f.e.Overdue, &f.e.Expired, &f.holder,
		&f.since, &f.age, &f.expected, &f.lease, &f.completed, &f.expires, &f.failure}
}

func (f *entryFields) fill() {
	e := f.e
	e.Key = Key{Tenant: string(f.tenant), Operation: string(f.operation), ID: string(f.id)}
	e.Status, e.Holder, e.Error = Status(f.status), f.holder, f.failure.String
	e.Since, e.Age = time.UnixMicro(f.since).UTC(), duration(f.age)
	e.ExpectedCompletion, e.LeaseUntil = moment(f.expected), moment(f.lease)
	e.CompletedAt, e.ExpiresAt = moment(f.completed), moment(f.expires)
}

func moment(us sql.NullInt64) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return time.UnixMicro(us.Int64).UTC()
}

func duration(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// mine says whether this call wrote the row, in an attempt whose answer was lost.
func (r *row) mine(c *call) bool { return bytes.Equal(r.callToken, c.token[:]) }

// differs says whether the row is for another payload.
func (r *row) differs(c *call) bool {
	same := func(earlier [sha256.Size]byte) bool { return bytes.Equal(r.fingerprint, earlier[:]) }
	return r.fingerprint != nil && c.fingerprint != nil && !bytes.Equal(r.fingerprint, c.fingerprint) && !slices.ContainsFunc(c.earlier, same)
}

// payload is the fingerprint of the row when c has claimed it: a call that gives none leaves the one of the
// work that was not done.
func (r *row) payload(c *call) []byte {
	if c.fingerprint == nil && !r.Expired {
		return r.fingerprint
	}
	return c.fingerprint
}

// nullable keeps a missing fingerprint NULL: a nil slice in an interface is not nil.
func nullable(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

func hasWord(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}
