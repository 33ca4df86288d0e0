package guard

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/sqltext"
	"github.com/onerow/onerow/internal/wire"
)

// A session of pool.Open takes several statements at once, so that BEGIN travels with the first statement of
// a transaction of onerow.InTx, COMMIT with the last ones, and those of a wire.Batch together: a round trip
// less each. A server ends such a text at its first error. That must not become anybody's injection: a text
// of the caller's with a semicolon in it is prepared, which no server does with more than one statement.

const (
	sqlBegin    = "START TRANSACTION"
	sqlCommit   = "COMMIT"
	sqlRollback = "ROLLBACK"
)

// waiting is a batch that goes with COMMIT.
type waiting struct {
	*wire.Batch
	args []driver.NamedValue
}

// prepares says whether a text has to be prepared rather than sent: the session takes several statements, of
// which this may be one.
func (c *session) prepares(query string) bool {
	return c.several && strings.Contains(strings.TrimRight(query, " \t\r\n;"), ";")
}

// head is what goes before the next statement: BEGIN, if it waits and may. What waits for COMMIT is sent
// first, for it was not the last. skip: the statement is to be prepared.
func (c *session) head(ctx context.Context, r sqltext.Statement, query string, args []driver.NamedValue) (head string, skip bool, err error) {
	prepares := c.prepares(query) || len(args) > 0 && (c.altered || r.Differs)
	if c.last != nil || c.pending && (prepares || c.packets == hosts.OnePacketEach || !keepsTx(r.Kind)) {
		err = c.flush(ctx)
	}
	if c.pending {
		head = sqlBegin + "; "
	}
	return head, prepares, err
}

// sent looks at the answer to a statement with its head. Where the driver did not send it, for it is to be
// prepared, BEGIN goes by itself.
func (c *session) sent(ctx context.Context, head string, err error) error {
	if head == "" {
		return err
	}
	if err != driver.ErrSkip { //nolint:errorlint // database/sql compares in this way
		c.pending = false
		return err
	}
	return cmp.Or(c.flush(ctx), err)
}

// flush sends what waits.
func (c *session) flush(ctx context.Context) error {
	if w := c.last; w != nil {
		c.last = nil
		return c.note(c.send(ctx, w, false))
	}
	if c.pending {
		if err := c.text(ctx, sqlBegin); err != nil {
			return c.note(err)
		}
		c.pending = false
	}
	return nil
}

// forBatch makes the session ready for statements that write: what waits for COMMIT was not the last.
func (c *session) forBatch(ctx context.Context) error {
	if err := c.usable(ctx); err != nil {
		return err
	}
	c.writes++
	if c.last == nil {
		return nil
	}
	return c.flush(ctx)
}

// execBatch sends statements together, or has them wait for COMMIT.
func (c *session) execBatch(ctx context.Context, w *waiting) (driver.Result, error) {
	if !c.travels(w.Batch, len(w.args)) {
		return nil, wire.ErrApart
	}
	if err := c.forBatch(ctx); err != nil {
		return nil, err
	}
	wire.Sent(ctx, w.Count(true))
	if w.Last && c.inTx {
		c.last = w
		return driver.RowsAffected(1), nil
	}
	if err := c.send(ctx, w, false); err != nil {
		return nil, c.note(err)
	}
	return driver.RowsAffected(1), nil
}

// send sends a batch, BEGIN before it if that waits, and COMMIT after it if the transaction is to end.
func (c *session) send(ctx context.Context, w *waiting, commits bool) error {
	if c.packets == hosts.OnePacketEach { // since a text that was not understood
		return c.apart(ctx, w, commits)
	}
	text, _ := w.Text(commits)
	from := 0
	if c.pending {
		text, from = sqlBegin+"; "+text, 1
	}
	if commits {
		text += "; " + sqlCommit
	}
	result, err := c.inner.ExecContext(ctx, text, w.args)
	if err == driver.ErrSkip { //nolint:errorlint // database/sql compares in this way
		return c.apart(ctx, w, commits)
	}
	c.pending = false
	if err != nil {
		return notOne(err)
	}
	results := from + w.Count(commits)
	if commits {
		results++
	}
	all, ok := result.(mysql.Result)
	if !ok {
		return c.unproven(fmt.Errorf("onerow: a driver whose results are %T tells nothing of several statements", result))
	}
	affected, ids := all.AllRowsAffected(), all.AllLastInsertIds()
	if len(affected) != results || len(ids) != results {
		return c.unproven(fmt.Errorf("onerow: %d statements were sent in one packet, and the server answered %d", results, len(affected)))
	}
	return w.Take(affected, ids, from, commits)
}

// unproven is for an answer that does not say what was asked: what the server made of the packet, nobody
// knows, so the session ends, and with it what is open there.
func (c *session) unproven(err error) error {
	c.kill()
	return err
}

// erOutOfRange is how sqlOne fails.
const erOutOfRange = 1690

// notOne says of an error of sqlOne what it means.
func notOne(err error) error {
	if my, ok := err.(*mysql.MySQLError); ok && my.Number == erOutOfRange && strings.Contains(my.Message, "row_count()") { //nolint:errorlint // as the driver returns it
		return fmt.Errorf("%w (%w)", wire.ErrNotOneRow, err)
	}
	return err
}

// apart sends each by itself, prepared: the driver cannot put the arguments in.
func (c *session) apart(ctx context.Context, w *waiting, commits bool) error {
	if err := c.flush(ctx); err != nil {
		return err
	}
	args := w.args
	for _, s := range w.Stmts {
		own := slices.Clone(args[:len(s.Args)])
		args = args[len(s.Args):]
		for i := range own {
			own[i].Ordinal = i + 1
		}
		if err := c.prepared(ctx, s, own); err != nil {
			return err
		}
	}
	if commits {
		return c.text(ctx, sqlCommit)
	}
	return nil
}

func (c *session) prepared(ctx context.Context, s wire.Stmt, args []driver.NamedValue) error {
	inner, err := c.prepare(ctx, s.Query)
	if err != nil {
		return err
	}
	result, err := inner.ExecContext(ctx, args)
	if err = cmp.Or(err, inner.Close()); err != nil {
		return err
	}
	n, nerr := result.RowsAffected()
	id, iderr := result.LastInsertId()
	return cmp.Or(nerr, iderr, s.Take(n, id))
}

// text sends a text as it is.
func (c *session) text(ctx context.Context, query string) error {
	_, err := c.inner.ExecContext(ctx, query, nil)
	return err
}

// commit ends the transaction, with the statements that waited for it. Of a transaction in which nothing was
// sent nothing is.
func (c *session) commit(inner driver.Tx) error {
	ctx := c.call
	if ctx == nil {
		ctx = context.Background()
	}
	w := c.last
	c.last = nil
	switch {
	case w == nil && c.pending:
		return nil
	case ctx.Err() != nil: // of what waits nothing was sent
		return errors.Join(ctx.Err(), c.rollback(inner))
	case w == nil && inner != nil && c.call == nil:
		return inner.Commit()
	case w == nil:
		return c.text(ctx, sqlCommit)
	}
	err := c.send(ctx, w, true)
	if definite(err) || c.stillOpen(ctx, err) {
		if rerr := c.text(ctx, sqlRollback); rerr != nil {
			c.kill()
		}
		return &statementError{err}
	}
	return err
}

func (c *session) rollback(inner driver.Tx) error {
	c.last = nil
	switch {
	case c.pending:
		return nil
	case inner != nil:
		return inner.Rollback()
	}
	return c.text(context.Background(), sqlRollback)
}

// statementError is the error of the statement that went with COMMIT, which so was not run.
type statementError struct{ err error }

func (e *statementError) Error() string { return e.err.Error() }
func (e *statementError) Unwrap() error { return e.err }

func (e *statementError) Is(target error) bool { return target == wire.ErrLast }

// stillOpen asks whether the transaction is open behind an error that COMMIT might have, too: then COMMIT was
// not run. HY000 is the state of both, and who writes a trigger chooses any. In an open transaction alone
// this statement is refused; a server that takes it has none, and the session ends.
func (c *session) stillOpen(ctx context.Context, err error) bool {
	const erTxOpen = 1568
	class := mysqlerr.Classify(err)
	asks := mysqlerr.Number(err) != 0 && (class == mysqlerr.Fatal || class == mysqlerr.Interrupted)
	return asks && mysqlerr.Number(c.text(ctx, "SET TRANSACTION READ WRITE")) == erTxOpen
}

// definite says whether an error is one that a statement has and COMMIT never has: of the data, of rights, of
// the text, of most triggers, a lock wait timeout. Others ask: see stillOpen.
func definite(err error) bool {
	if errors.Is(err, wire.ErrNotOneRow) {
		return true
	}
	my, ok := err.(*mysql.MySQLError) //nolint:errorlint // as the driver returns it
	if !ok {
		return false
	}
	switch string(my.SQLState[:2]) {
	case "22", "23", "42", "45":
		return true
	}
	return mysqlerr.Classify(err) == mysqlerr.TimedOut
}
