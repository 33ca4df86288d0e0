package graph

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// Due says which rows of a table are due, by the plan's retention, and reads them page by page along an index
// that begins with the column of times. Times are compared as readings of a clock, or, of a TIMESTAMP, as
// seconds since 1970, which no session's time zone changes.
type Due struct {
	Policy schema.Retention
	Err    error  // why its rows cannot be found
	Age    string // the expression that reads when a row's age began, as text, or NULL

	table  *Table
	column string
	layout string                    // of its readings of a clock; "": it is a TIMESTAMP
	clock  func(time.Time) time.Time // of the column, where it is no TIMESTAMP
	index  string
	rest   rowkey.Codec // the index's other columns; Width() 0: none
}

// newDue never fails: that no row can be found is no reason for jobs to wait.
func newDue(t *Table, cat *catalog.Catalog) *Due {
	d := &Due{Policy: *t.Node.Retention, table: t, column: ident.Quote(t.Node.Retention.Column)}
	d.Err = d.read(t, cat)
	return d
}

// errDue says that a policy does not fit the table.
var errDue = errors.New("the plan's retention does not fit the database")

func (d *Due) read(t *Table, cat *catalog.Catalog) (err error) {
	name := d.Policy.Column
	info, _ := cat.Column(t.Name, name)
	d.Age = "CAST(" + d.column + " AS CHAR)"
	switch info.Type {
	case "date":
		d.layout = "2006-01-02"
	case "datetime":
		d.layout = "2006-01-02 15:04:05.000000"
	case "timestamp":
		d.Age = "UNIX_TIMESTAMP(" + d.column + ")"
	default:
		return fmt.Errorf("%w: %q of %q is no DATE, DATETIME or TIMESTAMP; see cascade-worker verify", errDue, name, t.Name)
	}
	if d.clock, err = t.Node.RetentionClock(); err != nil {
		return fmt.Errorf("%w: %w", errDue, err)
	}
	index, columns, ok := cat.RetentionIndex(t.Name, name)
	if !ok {
		return fmt.Errorf("%w: no index of %q begins with %q; cascade-worker verify prints one", errDue, t.Name, name)
	}
	d.index = " FORCE INDEX (" + ident.Quote(index) + ")"
	if len(columns) > 1 {
		d.rest, err = rowkey.New(cat, t.Name, columns[1:])
		d.rest = d.rest.Ordered()
	}
	return err
}

// isTimestamp says whether ages are seconds since 1970.
func (d *Due) isTimestamp() bool { return d.layout == "" }

// Cutoff is the last beginning of a row's age, as Age reads it, that makes it due at a moment.
func (d *Due) Cutoff(now time.Time) string {
	at := now.Add(-time.Duration(d.Policy.Keep))
	if d.isTimestamp() {
		micro := max(at.UnixMicro(), 0)
		return fmt.Sprintf("%d.%06d", micro/1e6, micro%1e6)
	}
	return d.clock(at).Format(d.layout)
}

// earliest is the first beginning: zero dates, with which many schemas say never, are before it.
func (d *Due) earliest() string {
	if d.isTimestamp() {
		return "1.000000"
	}
	return (firstDay + " 00:00:00.000000")[:len(d.layout)]
}

// firstDay is the first day of an age.
const firstDay = "1000-01-01"

// IsDue says whether a row is due whose age begins then, as Age has read it.
func (d *Due) IsDue(age sql.NullString, cutoff string) bool {
	if !age.Valid {
		return false
	}
	if d.isTimestamp() {
		from, ferr := micros(age.String)
		to, terr := micros(cutoff)
		return ferr == nil && terr == nil && from >= 1e6 && from <= to
	}
	// Readings have a fixed width but for their fractions, of which the cutoff has all digits.
	return age.String >= firstDay && age.String <= cutoff && !d.Undated(age)
}

// Undated says whether a row has a date without a month or a day, "2020-00-10", with which others say that it
// is not known: nobody knows since when the row is as old as it says.
func (d *Due) Undated(age sql.NullString) bool {
	return !d.isTimestamp() && age.Valid && age.String >= firstDay && (age.String[5:7] == "00" || age.String[8:10] == "00")
}

// dated is the condition that a row has a whole date.
func (d *Due) dated() string {
	if d.isTimestamp() {
		return "TRUE"
	}
	return "(MONTH(" + d.column + ") > 0 AND DAYOFMONTH(" + d.column + ") > 0)"
}

// micros reads seconds with up to six digits behind the point.
func micros(text string) (int64, error) {
	whole, part, _ := strings.Cut(text, ".")
	return strconv.ParseInt(whole+(part + "000000")[:6], 10, 64)
}

// literal is a beginning in a statement.
func (d *Due) literal(age string) string {
	if d.isTimestamp() {
		return "FROM_UNIXTIME(" + age + ")"
	}
	return "'" + age + "'"
}

// DueRow is a row that is due, and where a page has ended with it: the row's age and its place in the rest of
// the index.
type DueRow struct {
	Key  rowkey.Key
	Age  string
	rest rowkey.Place
}

// Page reads a page of what is due at a moment, oldest first, from behind a row on: a range of the index, and
// no entry behind the page. It locks nothing. Rows that a deletion hides, or whose date is not whole, are
// passed over. A session's time zone that the server would not leave makes no row due, for what a TIMESTAMP
// says is asked as seconds as well. One statement.
func (d *Due) Page(ctx context.Context, db onerow.DB, at time.Time, after *DueRow, size int) (page []DueRow, err error) {
	columns := []string{d.table.Key.Select(""), d.Age}
	order := d.column
	if d.rest.Width() > 0 {
		columns = append(columns, d.rest.Select(""))
		for _, name := range d.rest.Names() {
			order += ", " + ident.Quote(name)
		}
	}
	query := ident.InUTC("SELECT " + strings.Join(columns, ", ") + d.from(after) + " AND " + d.dated() + fmt.Sprintf(" ORDER BY %s LIMIT %d", order, size))
	return page, ReadColumns(ctx, db, d.table.Key, query, d.args(at), func(key rowkey.Key, values []sql.NullString) error {
		row := DueRow{Key: key, Age: values[0].String}
		if d.rest.Width() > 0 {
			row.rest = d.rest.Place(values[1:])
		}
		page = append(page, row)
		return nil
	})
}

func (d *Due) args(at time.Time) []any {
	if d.isTimestamp() {
		return []any{d.Cutoff(at), d.Cutoff(at)}
	}
	return []any{d.Cutoff(at)}
}

// Count counts what is due at a moment, by entries of the index, so many at most, and reads the oldest, see
// Shown; and what of these is passed over, for its date is not whole. One statement.
func (d *Due) Count(ctx context.Context, db onerow.DB, at time.Time, most int) (due, undated int64, oldest string, err error) {
	query := ident.InUTC("SELECT COUNT(IF(dated, 1, NULL)), COUNT(IF(dated, NULL, 1)), COALESCE(MIN(IF(dated, age, NULL)), '') FROM (SELECT " +
		d.Age + " AS age, " + d.dated() + " AS dated" + d.from(nil) + fmt.Sprintf(" ORDER BY %s LIMIT %d) AS due", d.column, most))
	err = onerow.QueryRow(ctx, db, query, d.args(at), &due, &undated, &oldest)
	return due, undated, d.Shown(oldest), err
}

func (d *Due) from(after *DueRow) string {
	where := d.column + " <= ?"
	if d.isTimestamp() {
		const given = "CAST(? AS DECIMAL(20, 6))"
		where = d.column + " <= FROM_UNIXTIME(" + given + ") AND " + d.Age + " <= " + given
	}
	if after == nil {
		where += " AND " + d.column + " >= " + d.literal(d.earliest())
	} else {
		at := d.literal(after.Age)
		ways := d.column + " > " + at
		if d.rest.Width() > 0 {
			ways += " OR " + d.column + " = " + at + " AND " + d.rest.After("", after.rest)
		}
		where += " AND " + d.column + " >= " + at + " AND (" + ways + ")"
	}
	if d.table.Node.Managed && !d.table.Active {
		where += " AND " + ident.ColDeletionID + " IS NULL"
	}
	return " FROM " + d.table.From + d.index + " WHERE " + where
}

// AgeSQL locks a row and reads when its age began, with what follows the list.
func (d *Due) AgeSQL(key rowkey.Key, more string) string {
	return "SELECT " + d.Age + ", " + more + " FROM " + d.table.From + " AS t FORCE INDEX (PRIMARY) WHERE " + d.table.Key.In("t", []rowkey.Key{key}) + " FOR UPDATE"
}

// Shown is the beginning of a row's age for a person: a TIMESTAMP's as UTC.
func (d *Due) Shown(age string) string {
	if !d.isTimestamp() || age == "" {
		return age
	}
	at, err := micros(age)
	if err != nil {
		return age
	}
	return time.UnixMicro(at).UTC().Format("2006-01-02 15:04:05") + " UTC"
}
