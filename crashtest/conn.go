package crashtest

import (
	"context"
	"database/sql/driver"
	"errors"
)

// conn is a session. It has all optional interfaces whose absence database/sql treats like the answer that
// conn gives when the inner connection lacks them. SessionResetter and Validator are not of that kind (their
// presence changes what a cancelled transaction does with its connection), so they are added only where the
// inner connection has them.
//
// database/sql uses a driver.Conn from one goroutine at a time, so its fields need no lock.
type conn struct {
	inner     driver.Conn
	connector *Connector
	number    int
	serverID  uint64
	inTx      bool
}

// The old interfaces, under names of our own: drivers without the context forms are still served by
// database/sql.
type (
	oldBeginner interface{ Begin() (driver.Tx, error) }
	oldExecer   interface {
		Exec(query string, args []driver.Value) (driver.Result, error)
	}
	oldQueryer interface {
		Query(query string, args []driver.Value) (driver.Rows, error)
	}
)

type (
	connResetter  struct{ *conn }
	connValidator struct{ *conn }
	connBoth      struct {
		*conn
		connResetter
		connValidator
	}
)

func (c connResetter) ResetSession(ctx context.Context) error {
	return c.inner.(driver.SessionResetter).ResetSession(ctx)
}

func (c connValidator) IsValid() bool {
	return c.inner.(driver.Validator).IsValid()
}

// withOptional is the connection with exactly those of SessionResetter and Validator that the inner one has.
func (c *conn) withOptional() driver.Conn {
	_, resets := c.inner.(driver.SessionResetter)
	_, validates := c.inner.(driver.Validator)
	switch {
	case resets && validates:
		return connBoth{c, connResetter{c}, connValidator{c}}
	case resets:
		return connResetter{c}
	case validates:
		return connValidator{c}
	default:
		return c
	}
}

// execute sends one statement through the connector's interceptor and keeps track of the transaction.
func (c *conn) execute(ctx context.Context, kind Kind, query string, prepared bool,
	run func(ctx context.Context, query string) error, discard func() error,
) error {
	left, begins, uncommitted := closed, false, ""
	switch kind {
	case Begin:
		left = open
	case Exec, Query:
		kind, left = classify(query, kind)
		if begins, uncommitted = split(query); uncommitted != "" {
			kind, left = Commit, closed
		}
	}
	e := &execution{
		Statement: Statement{Session: c.number, Kind: kind, SQL: query, InTx: c.inTx, Begins: begins, Prepared: prepared},
		conn:      c, discard: discard, uncommitted: uncommitted,
	}
	e.part = func(ctx context.Context, query string) error {
		err := run(ctx, query)
		c.inTx = c.inTx || begins && !errors.Is(err, driver.ErrSkip)
		return err
	}
	e.run = func(ctx context.Context) error {
		err := e.part(ctx, query)
		if err == nil && left != asBefore {
			c.inTx = left == open
		}
		return err
	}
	return c.connector.execute(ctx, e)
}

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	inner, err := c.inner.Prepare(query)
	if err != nil {
		return nil, err
	}
	return wrapStmt(c, inner, query), nil
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	preparer, ok := c.inner.(driver.ConnPrepareContext)
	if !ok {
		s, err := c.Prepare(query)
		if err == nil && ctx.Err() != nil {
			return nil, withCleanup(ctx.Err(), s.Close())
		}
		return s, err
	}
	inner, err := preparer.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return wrapStmt(c, inner, query), nil
}

// Close ends the session. One that the server has ended already, as faults do, cannot take its leave, and
// sql.DB.Close would say so.
func (c *conn) Close() error {
	defer c.connector.end(c.serverID)
	_ = c.inner.Close() //nolint:errcheck // as said
	return nil
}

func (c *conn) Begin() (driver.Tx, error) { return c.BeginTx(context.Background(), driver.TxOptions{}) }

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	query := "START TRANSACTION"
	if opts.ReadOnly {
		query += " READ ONLY"
	}
	var begun driver.Tx
	err := c.execute(ctx, Begin, query, false, func(ctx context.Context, _ string) (err error) {
		begun, err = c.begin(ctx, opts)
		return err
	}, func() error { return nil })
	if err != nil {
		return nil, err
	}
	return &tx{conn: c, inner: begun}, nil
}

// begin is BeginTx of the inner connection, or what database/sql does for one without it.
func (c *conn) begin(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if beginner, ok := c.inner.(driver.ConnBeginTx); ok {
		return beginner.BeginTx(ctx, opts)
	}
	if opts.Isolation != 0 {
		return nil, errors.New("sql: driver does not support non-default isolation level")
	}
	if opts.ReadOnly {
		return nil, errors.New("sql: driver does not support read-only transactions")
	}
	begun, err := oldBeginner(c.inner).Begin()
	if err == nil && ctx.Err() != nil {
		return nil, withCleanup(ctx.Err(), begun.Rollback())
	}
	return begun, err
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	var result driver.Result
	err := c.execute(ctx, Exec, query, false, func(ctx context.Context, query string) (err error) {
		result, err = c.exec(ctx, query, args)
		return err
	}, func() error { return nil })
	if err != nil {
		return nil, err
	}
	return result, nil
}

func (c *conn) exec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if execer, ok := c.inner.(driver.ExecerContext); ok {
		return execer.ExecContext(ctx, query, args)
	}
	execer, ok := c.inner.(oldExecer)
	if !ok {
		return nil, driver.ErrSkip
	}
	values, err := plainValues(ctx, args)
	if err != nil {
		return nil, err
	}
	return execer.Exec(query, values)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	var rows driver.Rows
	err := c.execute(ctx, Query, query, false, func(ctx context.Context, query string) (err error) {
		rows, err = c.query(ctx, query, args)
		return err
	}, func() error { return closeRows(&rows) })
	if err != nil {
		return nil, err // as it is: database/sql compares it with driver.ErrSkip
	}
	return rows, nil
}

func (c *conn) query(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if queryer, ok := c.inner.(driver.QueryerContext); ok {
		return queryer.QueryContext(ctx, query, args)
	}
	queryer, ok := c.inner.(oldQueryer)
	if !ok {
		return nil, driver.ErrSkip
	}
	values, err := plainValues(ctx, args)
	if err != nil {
		return nil, err
	}
	return queryer.Query(query, values)
}

func (c *conn) Ping(ctx context.Context) error {
	if pinger, ok := c.inner.(driver.Pinger); ok {
		return pinger.Ping(ctx)
	}
	return nil
}

// CheckNamedValue is asked before ExecContext and QueryContext. Where the driver has neither, database/sql
// would have gone straight to Prepare, so the arguments pass unseen here: the statement will look at them.
func (c *conn) CheckNamedValue(value *driver.NamedValue) error {
	switch c.inner.(type) {
	case driver.ExecerContext, driver.QueryerContext, oldExecer, oldQueryer:
		return c.check(value)
	}
	return nil
}

func (c *conn) check(value *driver.NamedValue) error {
	if checker, ok := c.inner.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

// plainValues is what database/sql does with arguments for drivers without the context forms.
func plainValues(ctx context.Context, args []driver.NamedValue) ([]driver.Value, error) {
	values := make([]driver.Value, len(args))
	for i, arg := range args {
		if arg.Name != "" {
			return nil, errors.New("sql: driver does not support the use of Named Parameters")
		}
		values[i] = arg.Value
	}
	return values, ctx.Err()
}

// closeRows closes rows that nobody will read. Interfaces holding nothing are left alone, and closing twice
// does nothing.
func closeRows(rows *driver.Rows) error {
	if *rows == nil {
		return nil
	}
	open := *rows
	*rows = nil
	return open.Close()
}

// withCleanup is err itself where the cleanup went well, so that plain comparisons still work.
func withCleanup(err, cleanup error) error {
	if cleanup == nil {
		return err
	}
	return errors.Join(err, cleanup)
}
