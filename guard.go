package onerow

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/sqltext"
)

// Guard wraps a connector so that no session goes on behind a transaction that is lost. [Open] and
// [NewConnector] do that already; it is for a connector of one's own:
//
//	db := sql.OpenDB(onerow.Guard(connector))
//
// It guards every transaction of the pool, those of [InTx] and the caller's own, of whatever query layer:
// begun with BeginTx, or on a *sql.Conn as text (BEGIN, START TRANSACTION, XA START, SET autocommit = 0).
//
//	BEGIN ─► open ─► an error that ends the transaction ─► lost ─► ROLLBACK ─► free
//	                                                        │         └─ fails: the session is closed
//	                                                        └─ anything else: ErrTxPoisoned, not sent
//
// What ends a transaction, whether a statement says so, the rows of a query, or closing them:
//
//   - the server rolled all of it back: a deadlock, a cluster's certifier, a snapshot conflict, a full lock
//     table, and a lock wait timeout where innodb_rollback_on_timeout is ON
//   - this server is not the one to write to: a Galera node that is not ready (1047), a server or transaction
//     that is read only (1290, 1792, 1836). Such a session is also not used again by the pool, so that the
//     next one may reach another server.
//   - the connection is lost
//   - somebody, or a limit of time, ended the statement (KILL QUERY, max_statement_time): who drops that
//     error would commit a part
//
// A lost transaction takes ROLLBACK only. Everything else fails with [ErrTxPoisoned], which wraps the first
// error, and is not sent; COMMIT fails in that way as well, and rolls back. A session is closed, which ends
// what is open on it, if ROLLBACK fails on it, or COMMIT in another way than by a conflict (1213, 3101), or
// if it comes back to the pool with what was begun as text and not ended.
//
// Guard reads each text for what it does to its session, comments, hints and sql_mode in mind. A text that is
// not understood for certain (CALL, PREPARE, EXECUTE, several statements, comments that the server executes)
// may have done anything: its session does not go back to the pool, and in a transaction a savepoint is set
// before it and released behind it, two round trips, which proves that the transaction is still the same one;
// if it is not, the error is [ErrTxEnded]. In a transaction of [InTx] what would end it is not run:
// [ErrEndsTx]. In one of database/sql's what follows DDL, COMMIT as text, or a text that ended it otherwise,
// is one transaction again. The rows of a query have to be closed before the next statement: [ErrRowsOpen].
//
// When the context of a call ends under a statement or COMMIT, the call returns at once, and the session that
// waits on the server is killed over a new connection to the same host, within a second, by a goroutine for
// which the pool's Close waits. It is on pools of [Open]: who opens connections another way knows what its
// server calls them. Behind a proxy it works if the proxy answers CONNECTION_ID() and KILL as a server does.
//
// On a member of a MySQL replication group, of which [Tx.Savepoint] says what is wrong there, no SAVEPOINT is
// sent, whoever it comes from: the session remembers it. RELEASE forgets it, and ROLLBACK TO succeeds where
// nothing was written since; else it fails with [ErrNotUndone], and the transaction is lost. So nested
// transactions of a query layer work as long as they do not have to be undone. What a stored function or a
// trigger wrote is not seen, nor a SAVEPOINT in a stored procedure.
//
// It costs no further round trip, but for two: the first lock wait timeout of a session that is followed by
// anything else than ROLLBACK asks for innodb_rollback_on_timeout, and on MySQL the first SAVEPOINT of a
// session asks whether the server is in a group.
func Guard(c driver.Connector) driver.Connector {
	if guarded, ok := c.(guard); ok {
		return guarded
	}
	return guard{Connector: c, left: new(leftSessions)}
}

// Packets is [Guard] for a connector whose sessions take several statements at once and interpolate
// arguments, as [Open] has them: of a mysql.Config with MultiStatements and InterpolateParams, with a
// wrapper for traces around it perhaps, whose results are the driver's (mysql.Result) and whose rows have
// further results (driver.RowsNextResultSet). What may be sent together then is; a text of the caller's
// with a semicolon in it is prepared, so that nothing can be slipped in. See [CanInterpolate]. Not for a
// node of Galera, which Open finds out and [Check] refuses: see Round trips in the package documentation.
func Packets(c driver.Connector) driver.Connector {
	return guard{Connector: c, packets: true, left: new(leftSessions)}
}

type guard struct {
	driver.Connector
	packets bool // of Packets
	utf8mb4 bool // is known to be the only character set of the sessions
	left    *leftSessions
}

// Connect opens a guarded session.
func (g guard) Connect(ctx context.Context) (driver.Conn, error) {
	if h, ok := g.Connector.(*hosts); ok {
		conn, from, err := h.connect(ctx)
		if err != nil {
			return nil, err
		}
		return g.conn(conn, h.packets(from), from, from.as), nil
	}
	if r, ok := g.Connector.(recommended); ok {
		conn, as, err := r.connect(ctx)
		if err != nil {
			return nil, err
		}
		return g.conn(conn, r.packets(), stay{}, as), nil
	}
	conn, err := g.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	takes := onePacketEach
	if g.packets {
		takes = together
	}
	return g.conn(conn, takes, stay{}, peer{}), nil
}

func (g guard) conn(inner driver.Conn, takes packets, at stay, as peer) *guardConn {
	return &guardConn{inner: inner, at: at, peer: as, left: g.left, utf8mb4: g.utf8mb4, packets: takes, several: takes == together, mode: anyMode()}
}

// Close closes the wrapped connector if it can be closed, and waits for the sessions that are being killed.
// sql.DB.Close calls it.
func (g guard) Close() error {
	g.left.close()
	if closer, ok := g.Connector.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// guardConn is a session. database/sql uses it from one goroutine at a time.
type guardConn struct {
	inner driver.Conn
	at    stay // where it is, if the pool has several hosts

	peer peer          // what its server calls it
	left *leftSessions // of the pool

	inTx   bool            // database/sql began a transaction
	inText bool            // a transaction was begun by text
	manual bool            // autocommit was switched off by text: every statement is in a transaction
	reads  bool            // the transaction that database/sql began is READ ONLY by its own wish
	call   context.Context // of the [InTx] that had it begun; nil: somebody else had

	chain   bool         // completion_type was set: COMMIT begins the next transaction
	mode    sqltext.Mode // how its texts are read
	utf8mb4 bool         // as it was opened
	unsure  string       // a savepoint that was set before a statement that was not understood
	alien   bool         // a text has changed how texts are read
	reading int          // queries of the open transaction whose rows are not closed

	lost   error // what ended the open transaction: only ROLLBACK may follow
	waited error // a lock wait timed out, and whether that ended the transaction is not known yet
	worn   bool  // whoever uses the session may finish; the pool must not give it to another
	closed bool

	timeoutEnds answer // innodb_rollback_on_timeout

	kept map[string]keptStmt // queries that stay prepared

	packets packets  // what may be sent together
	several bool     // the guard may send several statements, and nobody else
	pending bool     // BEGIN, with the next statement
	last    *waiting // goes with COMMIT

	group      answer      // the server is in a group, in which no SAVEPOINT is sent
	savepoints []savepoint // of the open transaction, there
	writes     int         // statements of the open transaction that may have written
}

// answer is what a server said, if it was asked.
type answer int8

const (
	notAsked answer = iota
	no
	yes
)

// Server error numbers with which COMMIT is refused and all of the transaction rolled back.
const (
	erDeadlock  = 1213
	erCertifier = 3101 // Group Replication
)

// refusedCommit says whether err is such a refusal: nothing is open any more.
func refusedCommit(err error) bool {
	n := errNumber(err)
	return n == erDeadlock || n == erCertifier
}

func errNumber(err error) uint16 {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return my.Number
	}
	return 0
}

func (c *guardConn) open() bool { return c.inTx || c.inText || c.manual }

// admit says whether a statement may be sent, and what it will do to the transaction.
func (c *guardConn) admit(ctx context.Context, query string) (reading, error) {
	r := read(query, c.mode)
	switch {
	case c.closed:
		return r, driver.ErrBadConn
	case c.call != nil && r.ends():
		return r, r.refused()
	case r.verb == verbRollback || r.verb == verbXAEnd && c.lost != nil:
		return r, c.idle()
	}
	if err := c.usable(ctx); err != nil {
		return r, err
	}
	switch r.verb {
	case verbUnclear:
		return r, c.unclear(ctx)
	case verbDDL:
		if c.inTx { // what fails may have committed before, or not
			return r, c.before(ctx)
		}
	}
	return r, nil
}

func (c *guardConn) usable(ctx context.Context) error {
	if c.closed {
		return driver.ErrBadConn
	}
	if err := c.idle(); err != nil {
		return err
	}
	if c.lost == nil && c.unsure != "" {
		if err := c.askSame(ctx); err != nil {
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
	if errors.Is(c.lost, ErrTxEnded) {
		return c.lost
	}
	if c.lost != nil {
		return fmt.Errorf("%w, this statement was not run; roll back, and run the whole transaction again: %w", ErrTxPoisoned, c.lost)
	}
	return nil
}

// done notes what the answer to a statement means for the transaction, and returns it.
func (c *guardConn) done(r reading, err error) error {
	v := r.verb
	if v == verbDDL && c.inTx && c.unsure == "" && c.lost == nil && !errors.Is(err, driver.ErrSkip) { // in a group
		c.forget()
		if c.pending = err == nil; err != nil {
			c.lost = err
		}
	}
	if err != nil {
		if !errors.Is(err, driver.ErrSkip) && (v == verbRollback || v == verbCommit && !refusedCommit(err)) {
			c.kill()
		}
		return c.note(err)
	}
	switch v {
	case verbBegin, verbCommit, verbRollback, verbAuto:
		c.forget()
	}
	if r.ChangesMode() {
		c.foreign()
	}
	c.chain = c.chain || r.chains()
	c.worn = c.worn || c.chain || r.Quits || r.Locks
	switch v {
	case verbBegin:
		c.inText = true
	case verbDDL:
		c.inText = false
	case verbCommit, verbRollback:
		c.inText = c.chain && !r.NoChain
		c.pending = c.inTx && !c.inText && c.lost == nil // what follows is for the COMMIT of database/sql
	case verbManual:
		c.manual = true
	case verbAuto:
		c.inText = c.inText && !c.manual // it commits if autocommit was off, else it does nothing
		c.manual = false
	}
	if v == verbRollback && !c.inTx {
		c.lost, c.waited = nil, nil
	}
	return nil
}

// note is done for what the rows of a query say.
func (c *guardConn) note(err error) error {
	if !c.reads {
		c.at.met(err)
	}
	lost := false
	switch mysqlerr.Classify(err) {
	case mysqlerr.TimedOut:
		if c.open() && c.waited == nil {
			c.waited = err
		}
	case mysqlerr.NotHere:
		c.worn, lost = true, true
	case mysqlerr.RolledBack, mysqlerr.Overflowed, mysqlerr.ConnectionLost, mysqlerr.NotSent:
		lost = true
	case mysqlerr.Interrupted: // whoever drops the error would commit what is left
		lost = true
	default: // a context that ended under a statement: the driver has closed the session
		if lost = ended(err) && !c.alive(); lost {
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
func (c *guardConn) endsOnTimeout(ctx context.Context) (bool, error) {
	if c.timeoutEnds != notAsked {
		return c.timeoutEnds == yes, nil
	}
	ends, err := isOn(ctx, c.inner, askRollbackOnTimeout)
	switch {
	case errNumber(err) != 0:
		return true, nil //nolint:nilerr // see above
	case err != nil:
		return false, c.note(err)
	}
	c.timeoutEnds = no
	if ends {
		c.timeoutEnds = yes
	}
	return ends, nil
}

// kill closes the session; the server rolls back what is open.
func (c *guardConn) kill() {
	if c.closed {
		return
	}
	c.closed = true
	_ = c.inner.Close() //nolint:errcheck // there is nobody who could do anything about it
}
