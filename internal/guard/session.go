package guard

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/sqltext"
	"github.com/onerow/onerow/internal/wire"
)

// session is a guarded session. database/sql uses it from one goroutine at a time.
type session struct {
	inner driverConn
	at    hosts.Stay // where it is, if the pool has several hosts

	peer hosts.Peer    // what its server calls it
	left *leftSessions // of the pool

	inTx     bool            // database/sql began a transaction
	byText   bool            // a transaction was begun by text
	manual   bool            // autocommit was switched off by text: every statement is in a transaction
	readOnly bool            // the transaction that database/sql began is READ ONLY by its own wish
	call     context.Context // of the onerow.InTx that had it begun; nil: somebody else had

	chain    bool            // completion_type was set: COMMIT begins the next transaction
	charset  sqltext.Charset // of its texts
	utf8mb4  bool            // as it was opened
	unsure   string          // a savepoint that was set before a statement that was not understood
	altered  bool            // a text may have changed how texts are read
	openRows int             // queries of the open transaction whose rows are not closed

	lost   error // what ended the open transaction: only ROLLBACK may follow
	waited error // a lock wait timed out, and whether that ended the transaction is not known yet
	spent  bool  // whoever uses the session may finish; the pool must not give it to another
	closed bool

	timeoutEnds wire.Answer // innodb_rollback_on_timeout

	kept map[string]driverStmt // queries that stay prepared

	packets hosts.Packets // what may be sent together
	several bool          // the guard may send several statements, and nobody else
	pending bool          // BEGIN, with the next statement
	last    *waiting      // goes with COMMIT

	group      wire.Answer // the server is in a group, in which no SAVEPOINT is sent
	savepoints []savepoint // of the open transaction, there
	writes     int         // statements of the open transaction that may have written
}

// Server error numbers with which COMMIT is refused and all of the transaction rolled back.
const (
	erDeadlock  = 1213
	erCertifier = 3101 // Group Replication
)

// refusedCommit says whether err is such a refusal: nothing is open any more.
func refusedCommit(err error) bool {
	n := mysqlerr.Number(err)
	return n == erDeadlock || n == erCertifier
}

// TakesPackets says whether several statements may be sent to it in one packet: see wire.Session.
func (c *session) TakesPackets() bool { return c.packets != hosts.OnePacketEach }

func (c *session) open() bool { return c.inTx || c.byText || c.manual }

// usable says whether a statement may be sent now: not while the rows of a query are open, nor in a
// transaction that is lost or has ended, which it finds out where that is not known yet.
func (c *session) usable(ctx context.Context) error {
	if c.closed {
		return driver.ErrBadConn
	}
	if err := c.noOpenRows(); err != nil {
		return err
	}
	if c.lost == nil && c.unsure != "" {
		if err := c.checkSame(ctx); err != nil {
			return err
		}
	}
	if c.lost == nil && c.waited != nil {
		ends, err := c.endsOnTimeout(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("onerow: after a lock wait timeout, whether the transaction is still there is not known: %w", err)
		case ends:
			c.lost = c.waited
		}
		c.waited = nil
	}
	if errors.Is(c.lost, wire.ErrTxEnded) {
		return c.lost
	}
	if c.lost != nil {
		return fmt.Errorf("%w, this statement was not run; roll back, and run the whole transaction again: %w", wire.ErrTxPoisoned, c.lost)
	}
	return nil
}

// done notes what the answer to a statement means for the transaction, and returns it. result is nil for a
// query.
func (c *session) done(r sqltext.Statement, result driver.Result, err error) error {
	c.count(r, result, err)
	if r.Kind == sqltext.ImplicitCommit && c.inTx && c.unsure == "" && c.lost == nil && !errors.Is(err, driver.ErrSkip) { // in a group
		c.forget()
		if c.pending = err == nil; err != nil {
			c.lost = err
		}
	}
	if err != nil {
		if !errors.Is(err, driver.ErrSkip) && (r.Kind == sqltext.Rollback || r.Kind == sqltext.Commit && !refusedCommit(err)) {
			c.kill()
		}
		return c.note(err)
	}
	if r.SetsMode {
		c.alter()
	}
	c.chain = c.chain || r.SetsChain
	c.spent = c.spent || c.chain || r.Quits || r.Locks
	switch r.Kind {
	case sqltext.Begin:
		c.forget()
		c.byText = true
	case sqltext.ImplicitCommit:
		c.byText = false
	case sqltext.Commit, sqltext.Rollback:
		c.forget()
		c.byText = c.chain && !r.NoChain
		c.pending = c.inTx && !c.byText && c.lost == nil // what follows is for the COMMIT of database/sql
		if r.Kind == sqltext.Rollback && !c.inTx {
			c.lost, c.waited = nil, nil
		}
	case sqltext.AutocommitOff:
		c.manual = true
	case sqltext.AutocommitOn:
		c.forget()
		c.byText = c.byText && !c.manual // it commits if autocommit was off, else it does nothing
		c.manual = false
	}
	return nil
}

// note is done for what the rows of a query say.
func (c *session) note(err error) error {
	if !c.readOnly {
		c.at.Met(err)
	}
	lost := false
	switch mysqlerr.Classify(err) {
	case mysqlerr.TimedOut:
		if c.open() && c.waited == nil {
			c.waited = err
		}
	case mysqlerr.NotHere:
		c.spent, lost = true, true
	case mysqlerr.RolledBack, mysqlerr.Overflowed, mysqlerr.ConnectionLost, mysqlerr.NotSent:
		lost = true
	case mysqlerr.Interrupted: // whoever drops the error would commit what is left
		lost = true
	default: // a context that ended under a statement: the driver has closed the session
		if lost = mysqlerr.IsContext(err) && !c.alive(); lost {
			c.leave()
		}
	}
	if lost && c.lost == nil && c.open() {
		c.lost = err
	}
	return err
}

// A global variable that changes only with a restart; it touches no table.
const askRollbackOnTimeout = `SELECT @@innodb_rollback_on_timeout`

// endsOnTimeout asks once, and not before it matters. A server that cannot answer is taken for one that rolls
// back.
func (c *session) endsOnTimeout(ctx context.Context) (bool, error) {
	if c.timeoutEnds != wire.NotAsked {
		return c.timeoutEnds == wire.Yes, nil
	}
	ends, err := hosts.IsOn(ctx, c.inner, askRollbackOnTimeout)
	switch {
	case mysqlerr.Number(err) != 0:
		return true, nil //nolint:nilerr // see above
	case err != nil:
		return false, c.note(err)
	}
	c.timeoutEnds = wire.No
	if ends {
		c.timeoutEnds = wire.Yes
	}
	return ends, nil
}

// kill closes the session; the server rolls back what is open.
func (c *session) kill() {
	if c.closed {
		return
	}
	c.closed = true
	_ = c.inner.Close() //nolint:errcheck // there is nobody who could do anything about it
}
