// Package waiting tells operators how full limits are, and what waits for their sweepers: [Limits],
// [Expired], [Quotas]. All are plain reads that lock nothing. Each ends at a number of rows, but for the list
// of names.
//
// Open this package when an operator is to see more of limits or quotas.
package waiting

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow"
)

// Limit is the state of one limit, over its owners.
type Limit struct {
	Name string
	// Owners are those that have a row, Full those of them that have nothing left.
	Owners, Full int64
	// Recount are owners that are to be counted again, or were never counted.
	Recount int64
	// Counted is the age of the oldest count; 0 if nobody was counted yet.
	Counted time.Duration
}

// sqlNames jumps from name to name in the primary key.
const sqlNames = `SELECT DISTINCT name FROM onerow_limit FORCE INDEX (PRIMARY)`

// sqlLimit reads a range of the primary key up to its end, and of the index counted_at the rows without a
// time, up to the same, and the first with one. The rows of an owner stand together, and the whole maximum is
// in the first; one who was never counted has a negative maximum. Only the first row of an owner is without a
// time.
const sqlLimit = `SELECT COUNT(*), COALESCE(SUM(room <= 0 AND maximum >= 0), 0),
 (SELECT COUNT(*) FROM (SELECT 1 FROM onerow_limit FORCE INDEX (counted_at) WHERE name = ? AND counted_at IS NULL LIMIT ?) AS noted),
 (SELECT TIMESTAMPDIFF(MICROSECOND, MIN(counted_at), UTC_TIMESTAMP(6)) FROM onerow_limit FORCE INDEX (counted_at) WHERE name = ?)
 FROM (SELECT SUM(room) AS room, SUM(maximum) AS maximum
  FROM (SELECT owner, room, maximum FROM onerow_limit FORCE INDEX (PRIMARY) WHERE name = ? ORDER BY owner, stripe LIMIT ?) AS first
  GROUP BY owner) AS owners`

// Limits says how each limit is. It reads most rows of a limit at most; an owner has one, or 64, of which the
// last owner's may be cut off. Statements: one, and one for each limit.
func Limits(ctx context.Context, db onerow.DB, most int) ([]Limit, error) {
	names, err := read(ctx, db, sqlNames)
	if err != nil {
		return nil, fmt.Errorf("limit: names: %w", err)
	}
	var all []Limit
	for _, name := range names {
		l, age := Limit{Name: name}, sql.NullInt64{}
		args := []any{[]byte(name), most, []byte(name), []byte(name), most}
		if err := onerow.QueryRow(ctx, db, sqlLimit, args, &l.Owners, &l.Full, &l.Recount, &age); err != nil {
			return nil, fmt.Errorf("limit: state of %q: %w", name, err)
		}
		l.Counted = since(age)
		all = append(all, l)
	}
	return all, nil
}

func read(ctx context.Context, db onerow.DB, query string) (names []string, err error) {
	err = onerow.Query(ctx, db, query, nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	return names, err
}

// since takes microseconds; none, and a time to come, are 0.
func since(micros sql.NullInt64) time.Duration {
	return time.Duration(max(0, micros.Int64)) * time.Microsecond
}

// Reservations are those of a limit that have expired, and whose room was not given back yet.
type Reservations struct {
	Name string
	// Expired is how many there are, Oldest for how long the first of them has been over.
	Expired int64
	Oldest  time.Duration
}

// sqlReserved jumps from name to name in the primary key.
const sqlReserved = `SELECT DISTINCT name FROM onerow_reservation FORCE INDEX (PRIMARY)`

// sqlExpired reads a range of the index expires_at up to its end, and its first entry.
const sqlExpired = `SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM onerow_reservation FORCE INDEX (expires_at) WHERE name = ? AND expires_at <= UTC_TIMESTAMP(6) LIMIT ?) AS past),
 (SELECT TIMESTAMPDIFF(MICROSECOND, MIN(expires_at), UTC_TIMESTAMP(6)) FROM onerow_reservation FORCE INDEX (expires_at) WHERE name = ?)`

// Expired says which reservations wait for a sweeper, most of each limit at most. Statements: one, and one
// for each limit that has any reservation.
func Expired(ctx context.Context, db onerow.DB, most int) ([]Reservations, error) {
	names, err := read(ctx, db, sqlReserved)
	if err != nil {
		return nil, fmt.Errorf("limit: names of reservations: %w", err)
	}
	var all []Reservations
	for _, name := range names {
		r, age := Reservations{Name: name}, sql.NullInt64{}
		if err := onerow.QueryRow(ctx, db, sqlExpired, []any{[]byte(name), most, []byte(name)}, &r.Expired, &age); err != nil {
			return nil, fmt.Errorf("limit: reservations of %q: %w", name, err)
		}
		r.Oldest = since(age)
		all = append(all, r)
	}
	return all, nil
}

// sqlQuotas reads the primary key from its beginning: so many entries, and the first row.
const sqlQuotas = `SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM onerow_quota_mark FORCE INDEX (PRIMARY) ORDER BY id LIMIT ?) AS marks),
 (SELECT TIMESTAMPDIFF(MICROSECOND, created_at, UTC_TIMESTAMP(6)) FROM onerow_quota_mark FORCE INDEX (PRIMARY) ORDER BY id LIMIT 1)`

// Quotas says how many marks wait for a recalculation of their owner, most at most, and how old the first of
// them is. One statement.
func Quotas(ctx context.Context, db onerow.DB, most int) (marks int64, oldest time.Duration, err error) {
	var age sql.NullInt64
	if err := onerow.QueryRow(ctx, db, sqlQuotas, []any{most}, &marks, &age); err != nil {
		return 0, 0, fmt.Errorf("quota: marks: %w", err)
	}
	return marks, since(age), nil
}
