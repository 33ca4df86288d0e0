package guard

import (
	"bytes"
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/sqltext"
	"github.com/onerow/onerow/internal/wire"
)

// The optional interfaces of a session: where the wrapped one lacks one of them, database/sql hears what it
// would have done without it.

// Prepare is there for the interface only: database/sql takes PrepareContext.
func (c *session) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *session) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if err := c.usable(ctx); err != nil {
		return nil, err
	}
	if err := c.flush(ctx); err != nil {
		return nil, err
	}
	inner, err := c.prepare(ctx, query)
	if mysqlerr.Number(err) == erCannotPrepare && c.prepares(query) { // it was parsed, and is one statement
		inner, err = textStmt{c.inner, query}, nil
	}
	if err != nil {
		return nil, c.note(err)
	}
	return &statement{inner, c, query}, nil
}

func (c *session) prepare(ctx context.Context, query string) (driverStmt, error) {
	inner, err := c.inner.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s, ok := inner.(driverStmt)
	if !ok {
		return nil, errors.Join(errOldDriver, inner.Close())
	}
	return s, nil
}

// Close closes the session, once.
func (c *session) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	return c.inner.Close()
}

// Begin is there for the interface only: database/sql takes BeginTx.
func (c *session) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx begins a guarded transaction. It is refused while a lost one is open, for BEGIN would commit it.
func (c *session) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.usable(ctx); err != nil {
		return nil, err
	}
	wire.Sent(ctx, 2)
	call := wire.Call(ctx)
	if c.packets != hosts.OnePacketEach && opts == (driver.TxOptions{}) && !c.manual && call != nil {
		c.begun(call, false)
		c.pending, c.last = true, nil
		return &transaction{conn: c}, nil
	}
	inner, err := c.inner.BeginTx(ctx, opts)
	if err != nil {
		return nil, c.note(err)
	}
	c.begun(call, opts.ReadOnly)
	return &transaction{c, inner}, nil
}

// begun notes that database/sql has begun a transaction, for the call of onerow.InTx that has the context, if
// it is one.
func (c *session) begun(call context.Context, reads bool) {
	c.inTx, c.byText, c.readOnly, c.call = true, false, reads, call
	c.forget()
}

// ended notes that it has ended.
func (c *session) ended() {
	c.inTx, c.readOnly, c.pending, c.call, c.unsure, c.openRows = false, false, false, nil, "", 0
	c.byText = c.byText || c.chain
	c.forget()
}

// ExecContext runs a statement, unless the transaction is lost.
func (c *session) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if b := wire.BatchOf(ctx); b != nil {
		return c.execBatch(ctx, &waiting{b, args})
	}
	r, err := c.admit(ctx, query)
	if err != nil {
		return nil, err
	}
	head, skip, err := c.head(ctx, r, query, args)
	if skip || err != nil {
		return nil, cmp.Or(err, driver.ErrSkip)
	}
	if done, err := c.savepoint(ctx, r); done {
		return driver.RowsAffected(0), err
	}
	wire.Sent(ctx, 1)
	result, err := c.inner.ExecContext(ctx, head+query, args)
	return result, c.done(r, result, c.sent(ctx, head, err))
}

// QueryContext runs a query, unless the transaction is lost.
func (c *session) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if b := wire.BatchOf(ctx); b != nil && b.Query != "" && strings.HasSuffix(query, b.Query) {
		return c.queryBatch(ctx, b, query, args)
	}
	if name, ok := wire.Marked(query); ok && c.open() { // of onerow.Tx.Savepoint
		if err := c.usable(ctx); err != nil {
			return nil, err
		}
		if err := c.flush(ctx); err != nil {
			return nil, err
		}
		return &answerRows{[]string{"", wire.MarkedByGuard}}, c.mark(ctx, strings.Trim(name, "`"))
	}
	r, err := c.admit(ctx, query)
	if err != nil {
		return nil, err
	}
	if wire.KeptPrepared(ctx) {
		if rows, done, err := c.queryKept(ctx, query, args); done || err != nil {
			return rows, err
		}
	}
	head, skip, err := c.head(ctx, r, query, args)
	if skip || err != nil {
		return nil, cmp.Or(err, driver.ErrSkip)
	}
	if done, err := c.savepoint(ctx, r); done {
		return &answerRows{}, err
	}
	wire.Sent(ctx, 1)
	rows, err := c.inner.QueryContext(ctx, head+query, args)
	if err = c.done(r, nil, c.sent(ctx, head, err)); err != nil {
		return nil, err
	}
	return c.rows(rows), nil
}

func (c *session) Ping(ctx context.Context) error {
	if c.closed {
		return driver.ErrBadConn
	}
	if pinger, ok := c.inner.(driver.Pinger); ok {
		return c.note(pinger.Ping(ctx))
	}
	return nil
}

// CheckNamedValue is asked before ExecContext and QueryContext.
func (c *session) CheckNamedValue(value *driver.NamedValue) error {
	checker, ok := c.inner.(driver.NamedValueChecker)
	if !ok {
		return driver.ErrSkip
	}
	err := checker.CheckNamedValue(value)
	if raw, isBytes := value.Value.([]byte); isBytes && err == nil && c.readsJSON(raw) {
		value.Value = json.RawMessage(raw)
	}
	return err
}

// readsJSON says whether bytes are JSON that the session may send as text. Interpolated, the driver calls all
// other bytes binary, and of these MySQL makes no JSON. For columns of bytes it is the same: text goes there
// byte by byte, from a session that has utf8mb4 for its only character set.
func (c *session) readsJSON(raw []byte) bool {
	const numbers, spaces = "-+.0123456789eE", " \t\r\n"
	if !c.utf8mb4 || c.charset != sqltext.UTF8 || len(raw) == 0 {
		return false
	}
	// To be told that something is no JSON costs memory, so keys and hashes are not read.
	if !strings.ContainsRune(`{["`+spaces, rune(raw[0])) && len(bytes.Trim(raw, numbers+spaces)) > 0 {
		word := string(bytes.TrimRight(raw, spaces))
		return word == "null" || word == "true" || word == "false"
	}
	return json.Valid(raw) && utf8.Valid(raw)
}

// ResetSession is asked when the pool gives the session to its next user.
func (c *session) ResetSession(ctx context.Context) error {
	if !c.IsValid() {
		return driver.ErrBadConn
	}
	if resetter, ok := c.inner.(driver.SessionResetter); ok {
		return resetter.ResetSession(ctx)
	}
	return nil
}

// IsValid is asked when the session comes back to the pool. What was begun as text and not ended is ended
// with the session.
func (c *session) IsValid() bool {
	return !c.closed && !c.spent && c.lost == nil && c.waited == nil && !c.byText && !c.manual && !c.at.Over() && c.alive()
}

// alive says whether the driver still has its connection.
func (c *session) alive() bool {
	validator, ok := c.inner.(driver.Validator)
	return !ok || validator.IsValid()
}

type transaction struct {
	conn  *session
	inner driver.Tx // nil: BEGIN was sent with the first statement
}

// Commit commits. database/sql gives the session back afterwards, so nothing may be open then, whatever the
// answer.
func (t *transaction) Commit() error {
	c := t.conn
	if err := c.usable(context.Background()); err != nil {
		_ = t.Rollback() //nolint:errcheck // the session is closed if that fails
		return fmt.Errorf("onerow: rolled back instead of committed: %w", err)
	}
	err := c.commit(t.inner)
	c.at.Met(err)
	c.ended()
	if mysqlerr.IsContext(err) && !c.alive() { // COMMIT was sent
		c.leave()
		err = &wire.OutcomeUnknownError{Err: err}
	}
	if err != nil && !refusedCommit(err) && !errors.Is(err, wire.ErrLast) {
		c.kill()
	}
	return err
}

// Rollback rolls back, or closes the session.
func (t *transaction) Rollback() error {
	c := t.conn
	var gone error
	if c.unsure != "" && c.lost == nil && !c.closed {
		gone = c.checkSame(context.Background())
		gone = cmp.Or(gone, c.lost)
	}
	if errors.Is(c.lost, wire.ErrTxEnded) {
		gone = c.lost
	}
	err := errors.Join(c.rollback(t.inner), gone)
	c.at.Met(err)
	c.byText, c.lost, c.waited = false, nil, nil
	c.ended()
	if err != nil {
		c.kill()
	}
	return err
}
