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

// admit says whether a statement may be sent, and what it will do to the transaction.
//
// A text that is not understood (CALL, PREPARE, EXECUTE, several statements, comments that one engine
// executes) may do anything to its session. So the session does not go back to the pool, and in a transaction
// a savepoint is set before the text, which is released before anything follows: it is gone if the
// transaction is.
func (c *session) admit(ctx context.Context, query string) (sqltext.Statement, error) {
	r := sqltext.Classify(query, c.charset)
	switch {
	case c.closed:
		return r, driver.ErrBadConn
	case c.call != nil && r.EndsTx():
		return r, fmt.Errorf("%w: %s", wire.ErrEndsTx, r.Kind)
	case r.Chain:
		r.Kind = sqltext.Begin // the next one
	case r.Kind == sqltext.Rollback, r.Kind == sqltext.XAEnd && c.lost != nil:
		return r, c.idle()
	}
	err := c.usable(ctx)
	switch {
	case err != nil:
	case r.Kind == sqltext.Unclear:
		if err = c.before(ctx); err == nil {
			c.foreign()
		}
	case r.Kind == sqltext.Commits && c.inTx: // what fails may have committed before, or not
		err = c.before(ctx)
	}
	return r, err
}

// leavesTx says whether a statement of the kind leaves the transaction and its savepoints as they are.
func leavesTx(kind sqltext.Kind) bool {
	switch kind {
	case sqltext.Read, sqltext.Write, sqltext.Temporary, sqltext.Set, sqltext.Use:
		return true
	}
	return false
}

// idle says whether the session can answer.
func (c *session) idle() error {
	if c.reading > 0 {
		return wire.ErrRowsOpen
	}
	return nil
}

// before sets a savepoint in an open transaction, before a text that may end it.
func (c *session) before(ctx context.Context) error {
	if !c.inTx && !c.inText {
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

// foreign is for a session whose settings are not those that it was opened with: its texts travel alone, and
// their arguments by themselves. It does not go back to the pool.
func (c *session) foreign() {
	c.worn, c.alien, c.packets = true, true, hosts.OnePacketEach
	c.charset = sqltext.OtherCharset
}

// askSame asks whether the transaction is still the one in which the savepoint was set. By number 1305 it is
// not, whatever is open now.
func (c *session) askSame(ctx context.Context) error {
	name := c.unsure
	c.unsure = ""
	err := c.text(ctx, "RELEASE SAVEPOINT "+name)
	switch {
	case !mysqlerr.NoSuchSavepoint(err):
	case c.inTx && c.call == nil: // of database/sql's, as behind DDL
		c.forget()
		c.pending = true
		return nil
	default:
		c.lost = wire.ErrTxEnded
		return c.lost
	}
	return c.note(err)
}
