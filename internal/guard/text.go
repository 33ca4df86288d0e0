package guard

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/sqltext"
	"github.com/onerow/onerow/internal/wire"
)

// admit says whether a statement may be sent, and what it will do to the transaction. Within a function of
// onerow.InTx (c.call) a text that would end the transaction is refused; elsewhere that is the caller's
// business. A lost transaction takes only ROLLBACK, or what ends XA; what else is refused, usable says.
//
// A text that is not understood (CALL, PREPARE, EXECUTE, several statements, comments that one engine
// executes) may do anything to its session. So the session does not go back to the pool. In a transaction a
// savepoint is set first, and released before the next statement: if that fails, the transaction has ended.
func (c *session) admit(ctx context.Context, query string) (sqltext.Statement, error) {
	r := sqltext.Classify(query, c.charset)
	switch {
	case c.closed:
		return r, driver.ErrBadConn
	case c.call != nil && (r.EndsTx() || c.altered && sqltext.Classify(query, sqltext.UTF8).EndsTx()):
		return r, fmt.Errorf("%w: %s", wire.ErrEndsTx, r.Kind)
	case r.Chain:
		r.Kind = sqltext.Begin // AND CHAIN begins the next transaction
	case r.Kind == sqltext.Rollback, r.Kind == sqltext.XAEnd && c.lost != nil:
		return r, c.noOpenRows()
	}
	err := c.usable(ctx)
	switch {
	case err != nil:
	case r.Kind == sqltext.Unclear:
		if err = c.probe(ctx); err == nil {
			c.alter()
		}
	case r.Kind == sqltext.ImplicitCommit && c.inTx: // even DDL that fails may have committed
		err = c.probe(ctx)
	}
	return r, err
}

// keepsTx says whether a statement of the kind leaves the transaction and its savepoints as they are.
func keepsTx(kind sqltext.Kind) bool {
	switch kind {
	case sqltext.Read, sqltext.Write, sqltext.Temporary, sqltext.Set, sqltext.Use:
		return true
	}
	return false
}

// noOpenRows fails while rows of a query are open.
func (c *session) noOpenRows() error {
	if c.openRows > 0 {
		return wire.ErrRowsOpen
	}
	return nil
}

// probe sets a savepoint in an open transaction, ahead of a text that may end it.
func (c *session) probe(ctx context.Context) error {
	if !c.inTx && !c.byText {
		return nil
	}
	if err := c.flush(ctx); err != nil {
		return err
	}
	name := wire.SameName()
	if err := c.mark(ctx, name); err != nil {
		return err
	}
	if c.group != wire.Yes {
		c.unsure = name
		return nil
	}
	c.savepoints = c.savepoints[:len(c.savepoints)-1]
	if c.call != nil {
		return wire.ErrUnclearInGroup
	}
	return nil
}

// alter notes that the session's settings may not be those that it was opened with. From now on each
// statement goes in a packet of its own, its arguments apart from the text, and the session does not go back
// to the pool.
func (c *session) alter() {
	c.spent, c.altered, c.packets = true, true, hosts.OnePacketEach
	c.charset = sqltext.OtherCharset
}

// checkSame asks whether the transaction is still the one in which the savepoint was set. Error 1305 says
// that it is not, even if another one is open now.
func (c *session) checkSame(ctx context.Context) error {
	name := c.unsure
	c.unsure = ""
	err := c.text(ctx, "RELEASE SAVEPOINT "+name)
	switch {
	case !mysqlerr.NoSuchSavepoint(err):
	case c.inTx && c.call == nil: // DDL has ended database/sql's; the next statement begins a new one
		c.forget()
		c.pending = true
		return nil
	default:
		c.lost = wire.ErrTxEnded
		return c.lost
	}
	return c.note(err)
}
