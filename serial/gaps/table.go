package gaps

import (
	"context"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/serial"
)

// Table is a table of the application's own that holds ranges of numbers: the same report for numbers that
// came from elsewhere, or to hold the business rows against the claims.
type Table struct {
	// Name is the table's name, or a view's.
	Name string
	// Series is the column with the name of the series. Empty: the whole table is one series.
	Series string
	// From and To are the columns with the first and the last number, integers. To
	// may be From where each row has one number.
	From, To string
	// Key is the column that names a row in the findings.
	Key string
	// Voided is a column that is NULL in rows that are in use. Empty: all are.
	Voided string
}

// Find reports on this table, as the function Find does on a series. Without a Series column series is
// ignored. An index on (Series, From, To) lets it read the series only. What was before the first range and
// comes behind the last is not known here. One statement. The error is [serial.ErrInvalidArgument] for a name
// that cannot be one.
func (t Table) Find(ctx context.Context, db onerow.DB, series string) ([]Finding, error) {
	names := []string{t.Name, t.From, t.To, t.Key}
	voided, filter, args := "0", "", []any(nil)
	if t.Voided != "" {
		names, voided = append(names, t.Voided), ident.Quote(t.Voided)+" IS NOT NULL"
	}
	if t.Series != "" {
		names, filter, args = append(names, t.Series), " AND "+ident.Quote(t.Series)+" = ?", []any{series}
	}
	for _, name := range names {
		if err := ident.Check(name); err != nil {
			return nil, fmt.Errorf("%w: table %q: %w", serial.ErrInvalidArgument, t.Name, err)
		}
	}
	ranges := strings.NewReplacer("{key}", ident.Quote(t.Key), "{from}", ident.Quote(t.From), "{to}", ident.Quote(t.To),
		"{voided}", voided, "{table}", ident.Quote(t.Name), "{filter}", filter).Replace(`
      SELECT {key} AS claim_key, {from} AS from_no, {to} AS to_no, {voided} AS voided, 1 AS place
      FROM {table} WHERE {from} IS NOT NULL AND {to} IS NOT NULL{filter}`)
	found, err := report(ctx, db, findings+ranges+ofRanges, args...)
	if err != nil {
		return nil, fmt.Errorf("gaps of table %s: %w", t.Name, err)
	}
	return found, nil
}
