package ordering

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/trace"
)

// ByTime guards the rows of a table of the application's own by the time at which an update was made.
type ByTime struct {
	// Table is the table's name, ID the column of its primary key.
	Table, ID string
	// At is the column with the time of the last update that applied: a BIGINT with
	// microseconds since 1970, or with Datetime set a DATETIME(6) in UTC. NULL: none. Any
	// other type is [ErrInvalidArgument], see [ByTime.Verify].
	At       string
	Datetime bool
}

// Change is what an update makes of a row's columns. A value travels as in any statement of the caller's: a
// time as the driver writes it, in its own loc, which has to be the session's time zone where the column is a
// TIMESTAMP.
type Change struct {
	// Set gives columns a value.
	Set map[string]any
	// Add adds to columns. The guard makes its retry add nothing: it carries the same time.
	Add map[string]any
}

func (g ByTime) check(columns ...string) error {
	for _, name := range append(columns, g.Table, g.ID, g.At) {
		if err := ident.Check(name); err != nil {
			return errtext.Errorf("%w: table %q: %w", ErrInvalidArgument, g.Table, err)
		}
	}
	return nil
}

func (g ByTime) time() string {
	if g.Datetime {
		return "TIMESTAMP'1970-01-01 00:00:00' + INTERVAL ? MICROSECOND"
	}
	return "?"
}

// Update applies changes to the row with this id if at, the time at which the sender made the update, is
// later than the stored one, in microseconds. Otherwise it is refused: Duplicate with the same time, Late
// with an earlier one. Without the row the error is [onerow.ErrNotFound]; for a time outside the years 1000
// to 9999, and for a column of a wrong type, [ErrInvalidArgument], and nothing was written. One UPDATE by the
// table's primary key, and one SELECT when it is refused; on a pool BEGIN and COMMIT besides.
//
// When the answer to COMMIT is lost the error is [onerow.ErrOutcomeUnknown]; call again: a change that was
// made is then a Duplicate.
func (g ByTime) Update(ctx context.Context, db onerow.DB, id any, at time.Time, c Change) (_ Outcome, err error) {
	ctx, span := trace.Start(ctx, "ordering.Update", slog.String("onerow.table", g.Table))
	defer span.End(&err)
	set, add := slices.Sorted(maps.Keys(c.Set)), slices.Sorted(maps.Keys(c.Add))
	if len(set)+len(add) == 0 {
		return "", fmt.Errorf("%w: an update of table %q changes nothing", ErrInvalidArgument, g.Table)
	}
	if err := g.check(slices.Concat(set, add)...); err != nil {
		return "", err
	}
	if y := at.UTC().Year(); y < 1000 || y > 9999 {
		// Beyond a DATETIME it would be NULL, which says that no update has applied.
		return "", fmt.Errorf("%w: an update of table %q was made in the year %d, 1000 to 9999 fit", ErrInvalidArgument, g.Table, y)
	}
	var assignments []string
	var args []any
	for _, name := range set {
		assignments, args = append(assignments, ident.Quote(name)+" = ?"), append(args, c.Set[name])
	}
	for _, name := range add {
		assignments, args = append(assignments, ident.Quote(name)+" = "+ident.Quote(name)+" + ?"), append(args, c.Add[name])
	}
	// The row always changes, so the count of rows does not depend on the driver's settings.
	column := ident.Quote(g.At)
	query := "UPDATE " + ident.Quote(g.Table) + " SET " + strings.Join(append(assignments, column+" = "+g.time()), ", ") +
		" WHERE " + ident.Quote(g.ID) + " = ? AND (" + column + " IS NULL OR " + column + " < " + g.time() + ")"
	if g.Datetime {
		query += " AND " + g.keepsMicroseconds()
	}
	args = append(args, at.UnixMicro(), id, at.UnixMicro())

	var out Outcome
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		out, err = g.update(ctx, tx, query, args, id, at)
		return err
	})
	if err != nil {
		return "", errtext.Wrap(err, "ordering: update %s %v", g.Table, id)
	}
	return out, nil
}

func (g ByTime) update(ctx context.Context, tx *onerow.Tx, query string, args []any, id any, at time.Time) (Outcome, error) {
	for first := true; ; first = false {
		n, err := onerow.Affected(ctx, tx, query, args...)
		if err != nil || n > 0 {
			return Applied, err
		}
		// At READ COMMITTED the row may come between the two. It is locked now, and applies the second time.
		out, err := g.refusal(ctx, tx, id, at)
		if err != nil || out != "" {
			return out, err
		}
		if !first {
			return "", fmt.Errorf("%w: %s.%s is %s and has another time than was written; is there a trigger?", ErrInvalidArgument, g.Table, g.At, g.wanted())
		}
	}
}

// refusal asks the row, by a current read, why the update did not apply. FOR UPDATE, not
// a shared lock: of two callers who update next, each would wait for the other's. Empty: it does
// now, the row has come since, and the caller updates again.
func (g ByTime) refusal(ctx context.Context, tx *onerow.Tx, id any, at time.Time) (Outcome, error) {
	column := ident.Quote(g.At)
	query := "SELECT " + column + ", COALESCE(" + column + " < " + g.time() + ", TRUE), COALESCE(" + column + " = " + g.time() + ", FALSE) FROM " +
		ident.Quote(g.Table) + " WHERE " + ident.Quote(g.ID) + " = ? FOR UPDATE"
	var stored sql.RawBytes
	var older, same, there bool
	err := onerow.Query(ctx, tx, query, []any{at.UnixMicro(), at.UnixMicro(), id}, func(rows *sql.Rows) error {
		there = true
		if err := g.fits(rows); err != nil {
			return err
		}
		return rows.Scan(&stored, &older, &same)
	})
	switch {
	case err != nil:
		return "", err
	case !there:
		return "", onerow.ErrNotFound
	case older:
		return "", nil
	case same:
		return Duplicate, nil
	}
	return Late, nil
}

// Verify says whether the column is of the type that the guard needs: [ErrInvalidArgument], or the server's
// error if there is none. Call it at the start. Update says so too, but with some types only once it refuses:
// a TIMESTAMP(6) keeps a time until a session has another time zone. One statement, which reads no row.
func (g ByTime) Verify(ctx context.Context, db onerow.DB) error {
	if err := g.check(); err != nil {
		return err
	}
	// A row of NULL, whose type is the column's. With the table itself, ON FALSE, MariaDB reads all of it.
	query := "SELECT g." + ident.Quote(g.At) + " FROM (SELECT 1 AS n) AS one LEFT JOIN (SELECT " + ident.Quote(g.At) + " FROM " + ident.Quote(g.Table) + " LIMIT 0) AS g ON TRUE"
	return errtext.Wrap(onerow.Query(ctx, db, query, nil, g.fits), "ordering: verify table %s", g.Table)
}

func (g ByTime) wanted() string {
	if g.Datetime {
		return "DATETIME(6)"
	}
	return "BIGINT"
}

// fits holds the type of a result's first column against what is wanted. The type comes with every
// result. Where something between the driver and database/sql hides it, that is no error.
func (g ByTime) fits(rows *sql.Rows) error {
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	name := types[0].DatabaseTypeName()
	switch name {
	case "DATETIME", "TIMESTAMP", "TIME":
		if decimals, _, known := types[0].DecimalSize(); known {
			name = fmt.Sprintf("%s(%d)", name, decimals)
		}
	}
	if name == "" || name == g.wanted() || name == "UNSIGNED BIGINT" && !g.Datetime {
		return nil
	}
	return fmt.Errorf("%w: column %s.%s is %s, which does not keep the time of an update; make it %s", ErrInvalidArgument, g.Table, g.At, name, g.wanted())
}

// keepsMicroseconds is a condition on the type of the column, whatever is in it: as text, a time with six
// decimals has 26 characters. Without it an update of a NULL would apply where its time is rounded, and again
// when it is repeated. It costs no round trip.
func (g ByTime) keepsMicroseconds() string {
	return "CHAR_LENGTH(CAST(COALESCE(" + ident.Quote(g.At) + ", TIMESTAMP'1970-01-01 00:00:00') AS CHAR)) = 26"
}
