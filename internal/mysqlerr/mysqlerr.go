// Package mysqlerr sorts what the driver reports into what a caller can do about it: was it a duplicate, may
// the whole transaction run again, is the connection gone, or is it final. It looks at numbers and types, and
// not at the text of a message: texts differ between engines, are localized, and contain the user's own
// values. The one exception is 1290, whose text has nothing in it but the name of an option, which no
// language translates.
//
// Open this package when a server's error is retried that should not be, or not retried that should be.
package mysqlerr

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Class is what an error means for the transaction in which it occurred.
type Class int

const (
	// None is the class of a nil error.
	None Class = iota
	// Fatal is everything that running again would not change.
	Fatal
	// Duplicate is a violated unique key (1062). The statement was undone, the transaction is still usable.
	Duplicate
	// RolledBack means that the server chose this transaction as a victim and rolled all of it back (1213,
	// the cluster codes 3101 and 1180, and 1020, MariaDB's snapshot conflict, which does so as well): what
	// follows on this session would run in autocommit. It may run again. Also 1467: so MariaDB calls it where
	// an INSERT waits for the next AUTO_INCREMENT value and is the victim of a deadlock. What follows would
	// be in a transaction of its own, and COMMIT says OK. (Where the column has no more values it is 1467 as
	// well, and will be so again.)
	RolledBack
	// TimedOut means that a lock was waited for in vain (1205). The statement was undone and the
	// transaction is still open, or, with innodb_rollback_on_timeout, all of it was rolled back:
	// nobody can tell, so nothing more may be sent in it. It may run again.
	TimedOut
	// Overflowed means that the server rolled all of the transaction back because it is too much
	// for it (1206, more locks than its memory holds). It would be so again.
	Overflowed
	// Interrupted means that somebody, or a limit of time, has ended the statement (1317: KILL QUERY; 1969:
	// max_statement_time; 3024: max_execution_time). It was undone, and the transaction is open without it:
	// to commit that would commit a part. It does not run again by itself, for somebody wanted it to end, and
	// what took too long would do so again.
	Interrupted
	// NotHere means that this server, or this node of a cluster, takes no writes or no sessions at present
	// (1047, 1290 for an option that forbids writes, 1792, 1836, 3032, 6400; 1040, 1203; 3796, 3797), or
	// [ErrElsewhere]. What becomes of a transaction that is open there is not known. It may run again, in
	// another session, which may lead elsewhere.
	NotHere
	// TooLarge means that a statement is larger than the server (1153) or the driver takes.
	// The server has closed the session. It would be so again.
	TooLarge
	// ConnectionLost means that the session is gone. Before COMMIT was sent that
	// is a rollback; after it the outcome is unknown.
	ConnectionLost
	// NotSent means that the connection turned out to be bad before anything was
	// written to it: the statement never reached a server.
	NotSent
)

// NumberNoSavepoint is the server's "SAVEPOINT … does not exist".
const NumberNoSavepoint = 1305

// classes are those of the server's error numbers; the client's own (2006, 2013) never come from this driver.
//
//nolint:gochecknoglobals // a constant
var classes = map[uint16]Class{
	1062: Duplicate,

	1020: RolledBack, // MariaDB, innodb_snapshot_isolation: record has changed since last read
	1180: RolledBack, // error during COMMIT
	1213: RolledBack, // deadlock
	1467: RolledBack, // "Failed to read auto-increment value from storage engine"
	3101: RolledBack, // Group Replication: the certifier said no

	1205: TimedOut,    // lock wait timeout
	1206: Overflowed,  // the lock table is full
	1317: Interrupted, // KILL QUERY
	1969: Interrupted, // MariaDB: max_statement_time
	3024: Interrupted, // MySQL: max_execution_time

	1040:           NotHere, // too many connections
	1047:           NotHere, // Galera: "WSREP has not yet prepared node for application use"
	1203:           NotHere, // too many connections of the user
	optionPrevents: NotHere, // see forbidsWrites
	1792:           NotHere, // the transaction is read only
	1836:           NotHere, // read-only mode
	3032:           NotHere, // MySQL, offline mode: also what is left of a member that its group has expelled
	3796:           NotHere, // Group Replication: this member's state does not allow causal reads
	3797:           NotHere, // Group Replication: the wait before a causal read failed, as when the member leaves
	6400:           NotHere, // MySQL 9: 3032 with its reason

	1153: TooLarge,

	1053: ConnectionLost, // the server shuts down
	1927: ConnectionLost, // MariaDB: the connection was killed
	3169: ConnectionLost, // MySQL: the session was killed
	4031: ConnectionLost, // MySQL: disconnected because of inactivity
}

const optionPrevents = 1290

// ErrElsewhere is matched by an error of a connector that found no server to use, where that may change: its
// class is [NotHere].
var ErrElsewhere = errors.New("mysqlerr: another server, or the same one later")

// Classify returns the class of err, looking through wrapped errors.
func Classify(err error) Class {
	if err == nil {
		return None
	}
	if errors.Is(err, ErrElsewhere) {
		return NotHere
	}
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		if my.Number == optionPrevents && !forbidsWrites(my.Message) {
			return Fatal
		}
		return cmp.Or(classes[my.Number], Fatal)
	}
	if errors.Is(err, driver.ErrBadConn) {
		return NotSent
	}
	if errors.Is(err, mysql.ErrPktTooLarge) {
		return TooLarge
	}
	var network net.Error
	if errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &network) && !onlyContext(err) {
		return ConnectionLost
	}
	return Fatal
}

// Number returns the server's number of err, 0 if it is not the server's.
func Number(err error) uint16 {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return my.Number
	}
	return 0
}

// NoSuchIndex says whether a statement named an index that its table does not have. It has done nothing.
func NoSuchIndex(err error) bool { return Number(err) == 1176 }

// NoSuchSavepoint says whether a statement named a savepoint that its transaction does not have. It has done
// nothing.
func NoSuchSavepoint(err error) bool { return Number(err) == NumberNoSavepoint }

// forbidsWrites says whether the option that the message of 1290 names is one that forbids writes:
// --read-only or --super-read-only, and not --secure-file-priv or --skip-grant-tables, which are the
// same on every server. A proxy may spell it as a variable.
func forbidsWrites(message string) bool {
	return strings.Contains(message, "read-only") || strings.Contains(message, "read_only")
}

// FromDriver says whether err can only come from the driver of a database. A
// network error may as well be that of a call to elsewhere.
func FromDriver(err error) bool {
	return Number(err) != 0 || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, mysql.ErrPktTooLarge) || errors.Is(err, driver.ErrBadConn)
}

// MayRunAgain says whether a transaction that met err before its COMMIT was
// sent left nothing behind and may be run again from its first statement.
func MayRunAgain(err error) bool {
	return slices.Contains([]Class{RolledBack, TimedOut, NotHere, ConnectionLost, NotSent}, Classify(err))
}

// EndsTransaction says whether, after err, nothing more may be sent in the transaction: it is
// gone, or may be.
func EndsTransaction(err error) bool {
	return MayRunAgain(err) || slices.Contains([]Class{Overflowed, TooLarge}, Classify(err))
}

// Answers says whether err is what a function found out, and not that the server, the connection
// or the context kept it from doing so. A duplicate is a find.
func Answers(err error) bool {
	if IsContext(err) {
		return false
	}
	return !FromDriver(err) && !MayRunAgain(err) || Classify(err) == Duplicate
}

// IsContext says whether err is that of a context that has ended.
func IsContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// RefusedCommit says whether err, the answer to a COMMIT, proves that nothing
// was committed. Every other error leaves the outcome unknown.
func RefusedCommit(err error) bool {
	return slices.Contains([]Class{RolledBack, TimedOut, NotHere, NotSent}, Classify(err))
}

// onlyContext: context.DeadlineExceeded has a Timeout method and so passes for a
// net.Error; the end of a context says nothing about the connection's peer. A network
// operation that timed out also answers to that name, and does say something.
func onlyContext(err error) bool {
	var operation *net.OpError
	return !errors.As(err, &operation) && IsContext(err)
}
