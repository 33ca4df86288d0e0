package onerow

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/onerow/onerow/internal/sqltext"
)

// A text that is not understood (CALL, PREPARE, EXECUTE, several statements, comments that one engine
// executes) may do anything to its session. So the session does not go back to the pool, and in a transaction
// a savepoint is set before the text, which is released before anything follows: it is gone if the
// transaction is.

// ErrRowsOpen means: the rows of a query of this transaction are still being read, and a session answers one
// thing at a time. The statement was not sent, and the transaction is as it was. Read the rows to their end
// or close them first, or collect them.
var ErrRowsOpen = errors.New("onerow: the rows of another query of this transaction are still open; close them before the next statement")

// errUnclearInGroup: the server's savepoints prove nothing there, see Tx.Savepoint.
var errUnclearInGroup = errors.New("onerow: on a member of a replication group a statement of which the text does not show what it does (CALL, PREPARE, " +
	"EXECUTE, a comment that the server executes, several at once) is not run in a transaction, for nothing proves that it leaves the transaction open; " +
	"the statement was not run")

// understood is the reading of what the session itself sends.
func understood(v verb) reading {
	return reading{sqltext.Statement{Kind: sqltext.Read}, v}
}

// idle says whether the session can answer.
func (c *guardConn) idle() error {
	if c.reading > 0 {
		return ErrRowsOpen
	}
	return nil
}

// unclear makes the session ready for a text that was not understood.
func (c *guardConn) unclear(ctx context.Context) error {
	if err := c.before(ctx); err != nil {
		return err
	}
	c.foreign()
	return nil
}

// before sets a savepoint in an open transaction, before a text that may end it.
func (c *guardConn) before(ctx context.Context) error {
	if !c.inTx && !c.inText {
		return nil
	}
	if err := c.flush(ctx); err != nil {
		return err
	}
	name := sameName()
	if err := c.mark(ctx, name); err != nil {
		return err
	}
	if c.group != yes {
		c.unsure = name
		return nil
	}
	c.savepoints = c.savepoints[:len(c.savepoints)-1]
	if c.call != nil {
		return errUnclearInGroup
	}
	return nil
}

// sameName is the name of a savepoint that no text can know.
func sameName() string { return fmt.Sprintf("onerow_same_%016x", rand.Uint64()) } //nolint:gosec // against chance

// foreign is for a session whose settings are not those that it was opened with: its texts travel alone, and
// their arguments by themselves. It does not go back to the pool.
func (c *guardConn) foreign() {
	c.worn, c.alien, c.packets = true, true, onePacketEach
	c.mode.Charset = sqltext.OtherCharset
}

// askSame asks whether the transaction is still the one in which the savepoint was set. By number 1305 it is
// not, whatever is open now.
func (c *guardConn) askSame(ctx context.Context) error {
	name := c.unsure
	c.unsure = ""
	err := c.text(ctx, "RELEASE SAVEPOINT "+name)
	switch {
	case errNumber(err) != erNoSavepoint:
	case c.inTx && c.call == nil: // of database/sql's, as behind DDL
		c.forget()
		c.pending = true
		return nil
	default:
		c.lost = ErrTxEnded
		return c.lost
	}
	return c.note(err)
}
