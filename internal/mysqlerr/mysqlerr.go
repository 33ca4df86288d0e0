// Package mysqlerr sorts what the driver reports into what a caller can do
// about it: was it a duplicate, may the whole transaction run again, is the
// connection gone, or is it final. It looks at numbers and types, never at the
// text of a message: texts differ between engines, are localized, and contain
// the user's own values.
package mysqlerr

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"
)

// Class is what an error means for the transaction in which it occurred.
type Class int

const (
	// None is the class of a nil error.
	None Class = iota
	// Fatal is everything that running again would not change.
	Fatal
	// Duplicate is a violated unique key (1062). The statement was undone, the
	// transaction is still usable.
	Duplicate
	// RolledBack means that the server chose this transaction as a victim and
	// rolled all of it back (1213, the cluster codes 3101 and 1180, and 1020,
	// MariaDB's snapshot conflict): what follows on this session would run in
	// autocommit. It may run again.
	RolledBack
	// StatementUndone means that the one statement was undone and the transaction
	// is still open (1205, lock wait timeout; 1047, a Galera node that is not
	// ready). The transaction should be rolled back and may run again.
	StatementUndone
	// ConnectionLost means that the session is gone. Before COMMIT was sent that
	// is a rollback; after it the outcome is unknown.
	ConnectionLost
	// NotSent means that the connection turned out to be bad before anything was
	// written to it: the statement never reached a server.
	NotSent
)

// Server error numbers; the client's own (2006, 2013) never come from this driver.
const (
	erDuplicateEntry        = 1062
	erServerShutdown        = 1053
	erUnknownCom            = 1047 // Galera: "WSREP has not yet prepared node for application use"
	erCheckRead             = 1020 // MariaDB, innodb_snapshot_isolation: record has changed since last read
	erErrorDuringCommit     = 1180
	erLockWaitTimeout       = 1205
	erDeadlock              = 1213
	erConnectionKilled      = 1927 // MariaDB
	erTransactionRollbackGR = 3101 // Group Replication: the certifier said no
	erSessionWasKilled      = 3169 // MySQL
	erClientInteraction     = 4031 // MySQL: disconnected because of inactivity
)

// Classify returns the class of err, looking through wrapped errors.
func Classify(err error) Class {
	if err == nil {
		return None
	}
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return classifyNumber(my.Number)
	}
	if errors.Is(err, driver.ErrBadConn) {
		return NotSent
	}
	var network net.Error
	if errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &network) && !isContext(err) {
		return ConnectionLost
	}
	return Fatal
}

func classifyNumber(number uint16) Class {
	switch number {
	case erDuplicateEntry:
		return Duplicate
	case erDeadlock, erErrorDuringCommit, erTransactionRollbackGR, erCheckRead:
		return RolledBack
	case erLockWaitTimeout, erUnknownCom:
		return StatementUndone
	case erServerShutdown, erConnectionKilled, erSessionWasKilled, erClientInteraction:
		return ConnectionLost
	}
	return Fatal
}

// FromDriver says whether err can only come from the driver of a database. A
// network error may as well be that of a call to elsewhere.
func FromDriver(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, driver.ErrBadConn)
}

// MayRunAgain says whether a transaction that met err before its COMMIT was
// sent left nothing behind and may be run again from its first statement.
func MayRunAgain(err error) bool {
	switch Classify(err) {
	case RolledBack, StatementUndone, ConnectionLost, NotSent:
		return true
	}
	return false
}

// RefusedCommit says whether err, the answer to a COMMIT, proves that nothing
// was committed. Every other error leaves the outcome unknown.
func RefusedCommit(err error) bool {
	switch Classify(err) {
	case RolledBack, StatementUndone, NotSent:
		return true
	}
	return false
}

// isContext: context.DeadlineExceeded has a Timeout method and so passes for a
// net.Error; the end of a context says nothing about the connection's peer. A network
// operation that timed out also answers to that name, and does say something.
func isContext(err error) bool {
	var operation *net.OpError
	if errors.As(err, &operation) {
		return false
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
