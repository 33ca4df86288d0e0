package serial

import (
	"context"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
)

// Table is a table of the application's own that holds ranges of numbers: the same report
// for numbers that came from elsewhere, or to hold the business rows against the
// claims.
type Table struct {
	// Name is the table's name, or a view's.
	Name string
	// Series is the column with the name of the series. Empty: the whole table is one
	// series.
	Series string
	// From and To are the columns with the first and the last number, integers. To
	// may be From where each row has one number.
	From, To string
	// Key is the column that names a row in the findings.
	Key string
	// Voided is a column that is NULL in rows that are in use. Empty: all are.
	Voided string
}

// GapsSQL is [GapsSQL] for this table: a row for each range with a finding. Its one
// parameter is the name of the series, none without a Series column. An index on
// (Series, From, To) lets it read the series only. What was before the first range and
// comes behind the last is not known here. The error is [ErrInvalidArgument].
func (t Table) GapsSQL() (string, error) {
	for _, name := range []string{t.Name, t.From, t.To, t.Key} {
		if err := ident.Check(name); err != nil {
			return "", fmt.Errorf("%w: table %q: %w", ErrInvalidArgument, t.Name, err)
		}
	}
	voided, filter := "0", ""
	if t.Voided != "" {
		if err := ident.Check(t.Voided); err != nil {
			return "", fmt.Errorf("%w: table %q: %w", ErrInvalidArgument, t.Name, err)
		}
		voided = ident.Quote(t.Voided) + " IS NOT NULL"
	}
	if t.Series != "" {
		if err := ident.Check(t.Series); err != nil {
			return "", fmt.Errorf("%w: table %q: %w", ErrInvalidArgument, t.Name, err)
		}
		filter = " AND " + ident.Quote(t.Series) + " = ?"
	}
	ranges := strings.NewReplacer("{key}", ident.Quote(t.Key), "{from}", ident.Quote(t.From), "{to}", ident.Quote(t.To),
		"{voided}", voided, "{table}", ident.Quote(t.Name), "{filter}", filter).Replace(`
      SELECT {key} AS claim_key, {from} AS from_no, {to} AS to_no, {voided} AS voided, 1 AS place
      FROM {table} WHERE {from} IS NOT NULL AND {to} IS NOT NULL{filter}`)
	return findings + ranges + ofRanges, nil
}

// Gaps is [Series.Gaps] for this table. Without a Series column series is ignored.
// One statement.
func (t Table) Gaps(ctx context.Context, db onerow.DB, series string) ([]Finding, error) {
	query, err := t.GapsSQL()
	if err != nil {
		return nil, err
	}
	var args []any
	if t.Series != "" {
		args = append(args, series)
	}
	found, err := report(ctx, db, query, args...)
	if err != nil {
		return nil, fmt.Errorf("serial: gaps of table %s: %w", t.Name, err)
	}
	return found, nil
}
