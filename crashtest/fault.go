package crashtest

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"github.com/go-sql-driver/mysql"
)

// injector makes one fault happen, once. It is the interceptor of the faulted handle while the first call of
// a run is under way.
type injector struct {
	point  point
	server *server
	cancel context.CancelFunc // ends the context of the call
	fired  bool
	err    error // the fault could not be made: the run says nothing
}

// intercept lets every execution pass but the one at the fault point.
func (in *injector) intercept(ctx context.Context, e *execution) error {
	if in.fired || in.err != nil {
		return e.run(ctx)
	}
	if in.point.Fault == CancelBefore && in.point.Statement.Kind == kindCommit && in.point.Index > 1 {
		return in.cancelAfterAnswer(ctx, e, in.point.Index-1)
	}
	// Where the learnt run prepared the statement, its way without a prepare (ErrSkip) is let pass: it
	// executes nothing.
	if e.index != in.point.Index || e.Prepared != in.point.Statement.Prepared {
		return e.run(ctx)
	}
	if e.SQL != in.point.Statement.SQL || e.Kind != in.point.Statement.Kind {
		in.err = fmt.Errorf("statement %d is %q, it was %q in the run without faults: the workflow must send the same statements each time",
			e.index, oneLine(e.SQL, 120), oneLine(in.point.Statement.SQL, 120))
		return e.run(ctx)
	}
	err := in.fire(ctx, e)
	if errors.Is(err, driver.ErrSkip) {
		return err
	}
	in.fired = true
	return err
}

// fire is the fault. What it returns is what the driver would return.
func (in *injector) fire(ctx context.Context, e *execution) error {
	var err error
	switch in.point.Fault { // these come after the statement's work
	case CutAfter, KillAfter:
		err = e.run(ctx)
	case CutInside:
		err = e.part(ctx, e.uncommitted)
	case DeadlockAfter:
		err = e.part(ctx, cmp.Or(e.uncommitted, e.SQL))
	}
	if errors.Is(err, driver.ErrSkip) {
		return err
	}
	switch in.point.Fault {
	case CutBefore:
		in.cut(e)
		return driver.ErrBadConn
	case CutLost, CutAfter, CutInside:
		in.cut(e)
		return mysql.ErrInvalidConn
	case KillBefore:
		in.note(in.server.kill(e.conn.serverID))
		return e.run(ctx)
	case KillAfter:
		in.note(in.server.kill(e.conn.serverID))
		return err
	case DeadlockBefore, DeadlockAfter, RefusedCertification, RefusedCommit:
		return in.rollback(e)
	case LockWait:
		if e.Begins {
			in.note(sendPastLog(e.conn, "START TRANSACTION"))
			e.conn.inTx = true
		}
		return answer(1205, "HY000", "Lock wait timeout exceeded; try restarting transaction")
	case CancelBefore:
		in.cancel()
		return e.run(ctx)
	case CancelAfter:
		return in.cancelDuring(ctx, e)
	}
	in.note(fmt.Errorf("unknown fault %q", in.point.Fault))
	return e.run(ctx)
}

// answer is an error as the server's.
func answer(number uint16, state, message string) error {
	return &mysql.MySQLError{Number: number, SQLState: [5]byte([]byte(state)), Message: message}
}

// cancelDuring executes the statement although its context ends, then drops the connection as the driver
// would.
func (in *injector) cancelDuring(ctx context.Context, e *execution) error {
	if e.Kind == kindCommit || e.Kind == kindRollback {
		return in.cancelAfterAnswer(ctx, e, e.index)
	}
	err := e.run(context.WithoutCancel(ctx))
	if errors.Is(err, driver.ErrSkip) {
		return err
	}
	in.cancel()
	if ctx.Err() == nil { // the statement has a context of its own, which the caller's does not end
		return err
	}
	in.cut(e)
	return ctx.Err()
}

// cancelAfterAnswer cancels the context once the statement at index has been answered.
func (in *injector) cancelAfterAnswer(ctx context.Context, e *execution, index int) error {
	err := e.run(ctx)
	if e.index == index && !errors.Is(err, driver.ErrSkip) {
		in.fired = true
		in.cancel()
	}
	return err
}

// cut closes the connection and waits until the server has ended the session and rolled its transaction back.
func (in *injector) cut(e *execution) {
	closing := errors.Join(e.drop(), e.conn.driverConn.Close())
	if err := in.server.awaitEnd(e.conn.serverID); err != nil { // once the session is gone, how the closing went is of no interest
		in.note(errors.Join(err, closing))
	}
}

// rollback ends the session's transaction on the server, as the server does before it answers so.
func (in *injector) rollback(e *execution) error {
	in.note(errors.Join(e.drop(), sendPastLog(e.conn, "ROLLBACK")))
	e.conn.inTx = false
	switch in.point.Fault {
	case RefusedCertification:
		return answer(3101, "40000", "Plugin instructed the server to rollback the current transaction.")
	case RefusedCommit:
		return answer(1180, "HY000", "Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT")
	}
	return answer(1213, "40001", "Deadlock found when trying to get lock; try restarting transaction")
}

// sendPastLog sends a statement without arguments.
func sendPastLog(c *conn, query string) error {
	_, err := c.driverConn.ExecContext(context.Background(), query, nil)
	return err
}

func (in *injector) note(err error) {
	if err != nil && in.err == nil {
		in.err = fmt.Errorf("making the fault happen: %w", err)
	}
}

// Fault is what happens to one execution. Each can happen at some kinds of statements:
//
//	                        BEGIN  statement  COMMIT  ROLLBACK   the call sees
//	cut, not sent             x        x        x        x       driver.ErrBadConn (outside a transaction database/sql sends it again)
//	cut, never arrived        x        x        x        x       mysql.ErrInvalidConn
//	cut, answer lost          x        x        x        x       mysql.ErrInvalidConn: executed, at COMMIT committed
//	cut inside                                  x                mysql.ErrInvalidConn: all of a packet but its COMMIT
//	killed before, after      x        x        x        x       what the driver makes of KILL CONNECTION
//	cancelled before          x        x        x        x       its context's error
//	cancelled during          x        x        x        x       its context's error: executed; COMMIT and ROLLBACK answer first
//	deadlock                           x        x                1213; in a transaction also after the statement's work
//	lock wait timeout                  x                         1205
//	refused at COMMIT                           x                3101, 1180 (clusters of several primaries)
//	stopped before            x        x        x        x       nothing, ever: another process makes the call again
//
// A process that stopped (Abandoned) leaves its connection open, with its locks, until the retry is seen to
// wait for one; a lease that it holds runs out by Expire.
type Fault string

// The faults. Each leaves the server in the state in which the real one would: a session that was cut or
// killed is gone and its transaction rolled back before the workflow goes on, 1213, 3101 and 1180 roll the
// whole transaction back, 1205 undoes its statement only and leaves the transaction open.
const (
	// CutBefore: outside a transaction database/sql repeats the statement on another connection by itself.
	CutBefore Fault = "connection cut before the statement was sent"
	// CutLost: nothing was executed.
	CutLost Fault = "connection cut, the statement never reached the server"
	// CutAfter: the error is the same as that of CutLost.
	CutAfter Fault = "connection cut, executed but the answer was lost"
	// CutInside: of several statements in one packet all are executed but the COMMIT at the end.
	CutInside Fault = "connection cut inside the packet, before its COMMIT"
	// KillBefore: KILL CONNECTION from another session.
	KillBefore Fault = "connection killed before the statement"
	// KillAfter: KILL CONNECTION after the answer has arrived. The next user of the connection finds it dead.
	KillAfter Fault = "connection killed after the statement"
	// DeadlockBefore: at COMMIT it is what a Galera cluster says to a transaction that lost.
	DeadlockBefore Fault = "deadlock (1213), the transaction rolled back"
	// DeadlockAfter: ids that the statement drew stay used. Only in transactions.
	DeadlockAfter Fault = "deadlock (1213) after the statement's work, the transaction rolled back"
	// LockWait: the statement did nothing.
	LockWait Fault = "lock wait timeout (1205), the statement undone, the transaction still open"
	// CancelBefore: at COMMIT right after the statement before it, so that COMMIT is not sent.
	CancelBefore Fault = "context cancelled before the statement"
	// CancelAfter: the driver drops the connection. COMMIT and ROLLBACK do not listen to contexts: there it
	// is cancelled after the answer.
	CancelAfter Fault = "context cancelled during the statement, which was executed"
	// RefusedCertification: what Group Replication's certifier says.
	RefusedCertification Fault = "COMMIT refused (3101), the transaction rolled back"
	// RefusedCommit: what another cluster may say.
	RefusedCommit Fault = "COMMIT failed (1180), the transaction rolled back"
	// Abandoned: the connection keeps its locks. The retry comes from another process; when it is seen to
	// wait, the connection is killed.
	Abandoned Fault = "process stopped before the statement, its connection stays open"
)

// point is one fault at one statement of a workflow.
type point struct {
	// Number counts the workflow's fault points from 1, Of is how many there are.
	Number, Of int
	// Index is the statement's place in the learned log, from 1 to Statements.
	Index, Statements int
	Statement         Statement
	Fault             Fault
}

func (p point) String() string {
	return fmt.Sprintf("fault point %d of %d: statement %d of %d, %s: %s", p.Number, p.Of, p.Index, p.Statements, p.Statement, p.Fault)
}

func faultsOf(s Statement) []Fault {
	faults := []Fault{CutBefore, CutLost, CutAfter, KillBefore, KillAfter, CancelBefore, CancelAfter}
	switch s.Kind {
	case kindExec, kindQuery:
		faults = append(faults, DeadlockBefore)
		if s.InTx || s.Begins { // outside, the statement is committed already: a deadlock cannot undo it
			faults = append(faults, DeadlockAfter)
		}
		faults = append(faults, LockWait)
	case kindCommit:
		faults = append(faults, DeadlockBefore, RefusedCertification, RefusedCommit)
		if _, uncommitted := split(s.SQL); uncommitted != "" {
			faults = append(faults, CutInside, DeadlockAfter, LockWait)
		}
	case kindBegin, kindRollback:
	}
	return append(faults, Abandoned)
}

// pointsOf lists all fault points of a learned log, statement by statement.
func pointsOf(log Log, without ...Fault) []point {
	var points []point
	for i, s := range log {
		for _, fault := range faultsOf(s) {
			if !slices.Contains(without, fault) {
				points = append(points, point{Number: len(points) + 1, Index: i + 1, Statements: len(log), Statement: s, Fault: fault})
			}
		}
	}
	for i := range points {
		points[i].Of = len(points)
	}
	return points
}
