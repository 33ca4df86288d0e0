package guard

import (
	"context"
	"database/sql/driver"
)

// erCannotPrepare is what a server says of a statement that cannot be prepared. It has parsed it before.
const erCannotPrepare = 1295

// textStmt is such a statement.
type textStmt struct {
	conn  *session
	query string
}

// Close does nothing.
func (s textStmt) Close() error { return nil }

// NumInput is 0: a statement with parameters can be prepared.
func (s textStmt) NumInput() int { return 0 }

// Exec is there for the interface only: database/sql takes ExecContext.
func (s textStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errContextOnly }

// Query is there for the interface only.
func (s textStmt) Query([]driver.Value) (driver.Rows, error) { return nil, errContextOnly }

// ExecContext sends it.
func (s textStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	r, err := s.conn.ready(ctx, s.query)
	if err != nil {
		return nil, err
	}
	result, err := s.conn.inner.(driver.ExecerContext).ExecContext(ctx, s.query, args) //nolint:forcetypeassert // see text
	s.conn.count(r, result, err)
	return result, s.conn.done(r, err)
}

// QueryContext sends it.
func (s textStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	r, err := s.conn.ready(ctx, s.query)
	if err != nil {
		return nil, err
	}
	rows, err := s.conn.inner.(driver.QueryerContext).QueryContext(ctx, s.query, args) //nolint:forcetypeassert // as above
	s.conn.count(r, nil, err)
	if err := s.conn.done(r, err); err != nil {
		return nil, err
	}
	return s.conn.rows(rows), nil
}
