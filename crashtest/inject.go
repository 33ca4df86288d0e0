package crashtest

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

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
