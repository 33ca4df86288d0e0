package guard

import (
	"context"
	"database/sql/driver"
	"io"
	"reflect"

	"github.com/onerow/onerow/internal/sqltext"
	"github.com/onerow/onerow/internal/wire"
)

type statement struct {
	driverStmt
	conn  *session
	query string
}

// erCannotPrepare is what a server says of a statement that cannot be prepared. It has parsed it before.
const erCannotPrepare = 1295

// textStmt is such a statement, which has no parameters.
type textStmt struct {
	conn  driverConn
	query string
}

func (s textStmt) Close() error { return nil }

// NumInput is 0: a statement with parameters can be prepared.
func (s textStmt) NumInput() int { return 0 }

// Exec is there for the interface only: database/sql takes ExecContext.
func (s textStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errOldDriver }

func (s textStmt) Query([]driver.Value) (driver.Rows, error) { return nil, errOldDriver }

func (s textStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.ExecContext(ctx, s.query, args)
}

func (s textStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.QueryContext(ctx, s.query, args)
}

// ready admits a statement that is prepared, and sends before it what waits.
func (c *session) ready(ctx context.Context, query string) (sqltext.Statement, error) {
	r, err := c.admit(ctx, query)
	if err == nil {
		err = c.flush(ctx)
	}
	return r, err
}

func (s *statement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	r, err := s.conn.ready(ctx, s.query)
	if err != nil {
		return nil, err
	}
	wire.Sent(ctx, 1)
	result, err := s.driverStmt.ExecContext(ctx, args)
	return result, s.conn.done(r, result, err)
}

func (s *statement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	r, err := s.conn.ready(ctx, s.query)
	if err != nil {
		return nil, err
	}
	wire.Sent(ctx, 1)
	rows, err := s.driverStmt.QueryContext(ctx, args)
	if err := s.conn.done(r, nil, err); err != nil {
		return nil, err
	}
	return s.conn.rows(rows), nil
}

// CheckNamedValue asks the statement, else the session, as database/sql does.
func (s *statement) CheckNamedValue(value *driver.NamedValue) error {
	if checker, ok := s.driverStmt.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(value)
	}
	return s.conn.CheckNamedValue(value)
}

// rows guards the rows of a query in a transaction: some errors come only while they are read, or closed.
func (c *session) rows(inner driver.Rows) driver.Rows {
	if !c.open() {
		return inner
	}
	c.openRows++
	return &watchedRows{Rows: inner, conn: c}
}

// watchedRows has the optional interfaces that rows of MySQL have; those that the wrapped rows lack answer as
// database/sql would have.
type watchedRows struct {
	driver.Rows
	conn   *session
	closed bool
}

func (r *watchedRows) Next(dest []driver.Value) error {
	return r.noted(r.Rows.Next(dest))
}

// Close reads what was not read, and may meet an error there.
func (r *watchedRows) Close() error {
	if !r.closed && r.conn.openRows > 0 {
		r.conn.openRows--
	}
	r.closed = true
	return r.conn.note(r.Rows.Close())
}

func (r *watchedRows) HasNextResultSet() bool {
	next, ok := r.Rows.(driver.RowsNextResultSet)
	return ok && next.HasNextResultSet()
}

// NextResultSet goes on to the next result of a text of several statements.
func (r *watchedRows) NextResultSet() error {
	next, ok := r.Rows.(driver.RowsNextResultSet)
	if !ok {
		return io.EOF
	}
	return r.noted(next.NextResultSet())
}

func (r *watchedRows) noted(err error) error {
	if err == nil || err == io.EOF { //nolint:errorlint // database/sql compares in this way
		return err
	}
	return r.conn.note(err)
}

func (r *watchedRows) ColumnTypeScanType(i int) reflect.Type {
	if t, ok := r.Rows.(driver.RowsColumnTypeScanType); ok {
		return t.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}

func (r *watchedRows) ColumnTypeDatabaseTypeName(i int) string {
	if t, ok := r.Rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return t.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

func (r *watchedRows) ColumnTypeNullable(i int) (nullable, ok bool) {
	if t, has := r.Rows.(driver.RowsColumnTypeNullable); has {
		return t.ColumnTypeNullable(i)
	}
	return false, false
}

func (r *watchedRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if t, has := r.Rows.(driver.RowsColumnTypePrecisionScale); has {
		return t.ColumnTypePrecisionScale(i)
	}
	return 0, 0, false
}
