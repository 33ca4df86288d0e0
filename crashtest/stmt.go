package crashtest

import (
	"context"
	"database/sql/driver"
)

// stmt is a prepared statement. ColumnConverter is added by stmtConverter, because its presence changes how
// database/sql converts.
type stmt struct {
	conn  *conn
	inner driver.Stmt
	query string
}

type stmtConverter struct {
	*stmt
	converter oldColumnConverter
}

func (s stmtConverter) ColumnConverter(column int) driver.ValueConverter {
	return s.converter.ColumnConverter(column)
}

type (
	oldStmtExecer interface {
		Exec(args []driver.Value) (driver.Result, error)
	}
	oldStmtQueryer interface {
		Query(args []driver.Value) (driver.Rows, error)
	}
)

// oldColumnConverter is driver.ColumnConverter, which is deprecated and still asked for by database/sql.
type oldColumnConverter interface {
	ColumnConverter(column int) driver.ValueConverter
}

func wrapStmt(c *conn, inner driver.Stmt, query string) driver.Stmt {
	s := &stmt{conn: c, inner: inner, query: query}
	if converter, ok := inner.(oldColumnConverter); ok {
		return stmtConverter{s, converter}
	}
	return s
}

func (s *stmt) Close() error  { return s.inner.Close() }
func (s *stmt) NumInput() int { return s.inner.NumInput() }

// Exec and Query are there for the interface only: database/sql takes the context forms.

func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), namedValues(args))
}

func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), namedValues(args))
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	var result driver.Result
	err := s.conn.execute(ctx, Exec, s.query, true, func(ctx context.Context, _ string) (err error) {
		if execer, ok := s.inner.(driver.StmtExecContext); ok {
			result, err = execer.ExecContext(ctx, args)
			return err
		}
		values, err := plainValues(ctx, args)
		if err != nil {
			return err
		}
		result, err = oldStmtExecer(s.inner).Exec(values)
		return err
	}, func() error { return nil })
	if err != nil {
		return nil, err
	}
	return result, nil
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	var rows driver.Rows
	err := s.conn.execute(ctx, Query, s.query, true, func(ctx context.Context, _ string) (err error) {
		if queryer, ok := s.inner.(driver.StmtQueryContext); ok {
			rows, err = queryer.QueryContext(ctx, args)
			return err
		}
		values, err := plainValues(ctx, args)
		if err != nil {
			return err
		}
		rows, err = oldStmtQueryer(s.inner).Query(values)
		return err
	}, func() error { return closeRows(&rows) })
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// CheckNamedValue asks the statement, else the connection, as database/sql does.
func (s *stmt) CheckNamedValue(value *driver.NamedValue) error {
	if checker, ok := s.inner.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(value)
	}
	return s.conn.check(value)
}

func namedValues(args []driver.Value) []driver.NamedValue {
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return named
}

// tx is a transaction begun by BeginTx.
type tx struct {
	conn  *conn
	inner driver.Tx
}

func (t *tx) Commit() error   { return t.end(Commit, "COMMIT", t.inner.Commit) }
func (t *tx) Rollback() error { return t.end(Rollback, "ROLLBACK", t.inner.Rollback) }

// end runs with a context of its own: database/sql gives none to COMMIT and ROLLBACK.
func (t *tx) end(kind Kind, query string, run func() error) error {
	return t.conn.execute(context.Background(), kind, query, false,
		func(context.Context, string) error { return run() },
		func() error { return nil })
}
