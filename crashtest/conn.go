package crashtest

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
)

// driverConn is what a wrapped connection has: all that database/sql looks for, as go-sql-driver's and those
// that trace it have it.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// driverStmt is likewise what a prepared statement has.
type driverStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
	driver.NamedValueChecker
}

// conn is a session. What it does not do itself, the driver's does. database/sql uses a driver.Conn from one
// goroutine at a time, so its fields need no lock.
type conn struct {
	driverConn
	connector *Connector
	number    int
	serverID  uint64
	inTx      bool
}

// PrepareContext prepares a statement, which is not logged.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	inner, err := c.driverConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s, ok := inner.(driverStmt)
	if !ok {
		return nil, errors.Join(errors.New("crashtest: the driver's statements lack what go-sql-driver's have"), inner.Close())
	}
	return &stmt{s, c, query}, nil
}

// Close ends the session. One that the server has ended already, as faults do, cannot take its leave, and
// sql.DB.Close would say so.
func (c *conn) Close() error {
	defer c.connector.end(c.serverID)
	_ = c.driverConn.Close() //nolint:errcheck // as said
	return nil
}

// send sends one statement through the connector's interceptor, keeps track of the transaction, and returns
// the result of the last run, which sends a text. The error is as it is, for database/sql compares it with
// driver.ErrSkip.
func send[R any](ctx context.Context, c *conn, s Statement, args []driver.NamedValue, run func(ctx context.Context, query string) (R, error)) (result R, err error) {
	left, uncommitted := closed, ""
	switch s.Kind {
	case kindBegin:
		left = open
	case kindExec, kindQuery:
		s.Kind, left = classify(s.SQL, s.Kind)
		if s.Begins, uncommitted = split(s.SQL); uncommitted != "" {
			s.Kind, left = kindCommit, closed
		}
	}
	s.Session, s.InTx = c.number, c.inTx
	e := &execution{Statement: s, conn: c, uncommitted: uncommitted, args: args}
	e.part = func(ctx context.Context, query string) (err error) {
		result, err = run(ctx, query)
		if err == nil && c.connector.recording.Load() {
			result = keep(e, result)
		}
		c.inTx = c.inTx || s.Begins && !errors.Is(err, driver.ErrSkip)
		return err
	}
	e.run = func(ctx context.Context) error {
		err := e.part(ctx, s.SQL)
		if err == nil && left != asBefore {
			c.inTx = left == open
		}
		return err
	}
	e.drop = func() error {
		closer, ok := any(result).(io.Closer)
		if !ok {
			return nil
		}
		result = *new(R)
		return closer.Close()
	}
	err = c.connector.execute(ctx, e)
	return result, err
}

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	s := Statement{Kind: kindBegin, SQL: "START TRANSACTION"}
	if opts.ReadOnly {
		s.SQL += " READ ONLY"
	}
	begun, err := send(ctx, c, s, nil, func(ctx context.Context, _ string) (driver.Tx, error) { return c.driverConn.BeginTx(ctx, opts) })
	return &tx{conn: c, inner: begun}, err
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return send(ctx, c, Statement{Kind: kindExec, SQL: query}, args, func(ctx context.Context, query string) (driver.Result, error) {
		return c.driverConn.ExecContext(ctx, query, args)
	})
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return send(ctx, c, Statement{Kind: kindQuery, SQL: query}, args, func(ctx context.Context, query string) (driver.Rows, error) {
		return c.driverConn.QueryContext(ctx, query, args)
	})
}

type stmt struct {
	driverStmt
	conn  *conn
	query string
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return send(ctx, s.conn, Statement{Kind: kindExec, SQL: s.query, Prepared: true}, args, func(ctx context.Context, _ string) (driver.Result, error) {
		return s.driverStmt.ExecContext(ctx, args)
	})
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return send(ctx, s.conn, Statement{Kind: kindQuery, SQL: s.query, Prepared: true}, args, func(ctx context.Context, _ string) (driver.Rows, error) {
		return s.driverStmt.QueryContext(ctx, args)
	})
}

type tx struct {
	conn  *conn
	inner driver.Tx
}

func (t *tx) Commit() error { return t.end(kindCommit, "COMMIT", t.inner.Commit) }

func (t *tx) Rollback() error { return t.end(kindRollback, "ROLLBACK", t.inner.Rollback) }

// end runs with a context of its own: database/sql gives none to COMMIT and ROLLBACK.
func (t *tx) end(of kind, query string, run func() error) error {
	_, err := send(context.Background(), t.conn, Statement{Kind: of, SQL: query}, nil, func(context.Context, string) (any, error) { return nil, run() })
	return err
}
