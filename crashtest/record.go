package crashtest

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
)

// heard is what the caller of a statement heard of it.
type heard struct {
	err     error
	columns []string
	rows    [][]driver.Value
	changed int64 // -1: nothing was said of it
	id      int64 // that the server has drawn; 0: none
}

// keep notes the answer to a statement, and returns it in a form that notes the rows as they are read.
func keep[R any](e *execution, result R) R {
	e.heard.changed = -1
	switch answer := any(result).(type) {
	case driver.Result:
		changed, affected := answer.RowsAffected()
		id, drawn := answer.LastInsertId()
		if affected == nil && drawn == nil {
			e.heard.changed, e.heard.id = changed, id
		}
	case driverRows:
		e.heard.columns = answer.Columns()
		if noting, ok := any(&notedRows{answer, e}).(R); ok {
			return noting
		}
	}
	return result
}

// driverRows is what the driver's rows have.
type driverRows interface {
	driver.RowsNextResultSet
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
}

// notedRows notes what is read.
type notedRows struct {
	driverRows
	of *execution
}

func (r *notedRows) Next(into []driver.Value) error {
	err := r.driverRows.Next(into)
	if err != nil {
		return err // io.EOF, which database/sql compares, or what the driver says
	}
	read := slices.Clone(into)
	for i, v := range read {
		if b, ok := v.([]byte); ok {
			read[i] = bytes.Clone(b) // the driver's buffer
		}
	}
	r.of.heard.rows = append(r.of.heard.rows, read)
	return nil
}

// record has all lanes note what statements are given and answered, or ends that.
func (x *explorer) record(on bool) {
	for _, l := range append(slices.Clone(x.copies), x.lane, x.spare) {
		l.connector.recording.Store(on)
	}
}

// sqlCounters lists the tables whose ids the server draws, of a type with room for firstID.
const sqlCounters = `SELECT TABLE_NAME FROM information_schema.COLUMNS
 WHERE TABLE_SCHEMA = DATABASE() AND LOWER(EXTRA) LIKE '%auto_increment%' AND LOWER(DATA_TYPE) NOT IN ('tinyint', 'smallint') ORDER BY TABLE_NAME`

// firstID is where the ids that the server draws begin, betweenTables how far those of two tables are apart:
// no amount or key of the workflow's own is taken for an id, and no id of one table for one of another. A
// generated column may hold ids of several tables, and only which of them are equal is compared: equal by
// chance in one run, they would not be in the next, where a fault has used one up.
const (
	firstID       = 1_000_000
	betweenTables = 100_000
)

// liftCounters has the server draw ids that are no small numbers from now on.
func (x *explorer) liftCounters(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var names []string
	err := eachRow(ctx, x.observer, sqlCounters, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	if err != nil {
		return fmt.Errorf("reading which tables have a counter: %w", err)
	}
	if len(names) == 0 {
		return nil
	}
	var lifts []string
	for i, name := range names {
		lifts = append(lifts, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", ident.Quote(name), firstID+i*betweenTables))
	}
	if _, err := x.observer.ExecContext(ctx, strings.Join(lifts, "; ")); err != nil {
		return fmt.Errorf("setting where the ids of the tables begin: %w", err)
	}
	return nil
}

// blockers are the copies whose locks a process waits for. With two of them it is the other one, or the
// connection that a process of its own copy left open; of three the server would have to be asked at once,
// which MariaDB does not answer, so all that may hold a lock are named.
func (s *stepper) blockers(p *process) string {
	var letters []byte
	for _, other := range append(slices.Clone(s.procs), s.zombies...) {
		holds := other.phase == parked || other.phase == waiting || other.phase == executing || other.phase == idle || slices.Contains(s.zombies, other)
		if other != p && holds && other.steps > 0 && !bytes.ContainsRune(letters, rune(letterOf(other.copy))) {
			letters = append(letters, letterOf(other.copy))
		}
	}
	slices.Sort(letters)
	return strings.Join(strings.Split(string(letters), ""), ", ")
}
