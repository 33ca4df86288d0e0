// Package waiting tells operators how full limits are, and what waits to be counted again: [Limits],
// [Quotas]. Everything is a plain read that locks nothing and decides nothing, and each ends at a number of
// rows.
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
	// Over are reservations whose time is over, and whose room was not given back yet.
	Over int64
	// Counted is how long ago the owner was counted whose count is the oldest; 0 if nobody was counted yet.
	Counted time.Duration
}

// sqlNames jumps from name to name in the primary key.
const sqlNames = `SELECT DISTINCT name FROM onerow_limit FORCE INDEX (PRIMARY)`

// sqlLimit reads a range of the primary key up to its end, a range of the index expires_at up to the same,
// and the first entry of a range of the index counted_at. Rows of an owner stand together; a row that is not
// counted has no maximum, and one without a maximum much room.
const sqlLimit = `SELECT COUNT(*), COALESCE(SUM(room <= 0 AND maximum >= 0), 0), COALESCE(SUM(again), 0),
 (SELECT COUNT(*) FROM (SELECT 1 FROM onerow_reservation FORCE INDEX (expires_at) WHERE name = ? AND expires_at <= UTC_TIMESTAMP(6) LIMIT ?) AS past),
 (SELECT TIMESTAMPDIFF(MICROSECOND, MIN(counted_at), UTC_TIMESTAMP(6)) FROM onerow_limit FORCE INDEX (counted_at) WHERE name = ?)
 FROM (SELECT SUM(room) AS room, SUM(maximum) AS maximum, SUM(stripe = 0 AND counted_at IS NULL) > 0 AS again
  FROM (SELECT owner, stripe, room, maximum, counted_at FROM onerow_limit FORCE INDEX (PRIMARY) WHERE name = ? ORDER BY owner, stripe LIMIT ?) AS first
  GROUP BY owner) AS owners`

// Limits says how each limit is. It reads at most so many rows of a limit, and as many of its reservations;
// an owner has a row or 64. Statements: one, and one for each limit.
func Limits(ctx context.Context, db onerow.DB, most int) ([]Limit, error) {
	var names []string
	err := onerow.Query(ctx, db, sqlNames, nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("limit: names: %w", err)
	}
	var all []Limit
	for _, name := range names {
		l, age := Limit{Name: name}, sql.NullInt64{}
		args := []any{[]byte(name), most, []byte(name), []byte(name), most}
		if err := onerow.QueryRow(ctx, db, sqlLimit, args, &l.Owners, &l.Full, &l.Recount, &l.Over, &age); err != nil {
			return nil, fmt.Errorf("limit: state of %q: %w", name, err)
		}
		l.Counted = max(0, time.Duration(age.Int64)*time.Microsecond)
		all = append(all, l)
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
	return marks, max(0, time.Duration(age.Int64)*time.Microsecond), nil
}
