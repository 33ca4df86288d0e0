package cascade

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
)

// ErrServerState means that the server refused for a state that it is in, whatever the job is about: its
// connections or its memory are used up, a disk is full, it is read-only, it ended the statement. The detail
// is [*ServerStateError].
var ErrServerState = errors.New("cascade: the state of the server, not of the job")

// ServerStateError is the detail of [ErrServerState].
type ServerStateError struct {
	Number uint16 // the server's error number
	Advice string // what it means and what may be done
	Err    error  // what the driver reported
}

// Error says what it is and what may be done before what the server says.
func (e *ServerStateError) Error() string {
	return fmt.Sprintf("%v: %s: %v", ErrServerState, e.Advice, e.Err)
}

// Is makes errors.Is(err, ErrServerState) true.
func (e *ServerStateError) Is(target error) bool { return target == ErrServerState }

// Unwrap returns what the driver reported.
func (e *ServerStateError) Unwrap() error { return e.Err }

const erQueryInterrupted = 1317 // KILL QUERY

const (
	noSession  = "no more sessions are to be had; find what opens so many, or raise the limit"
	noSpace    = "a disk, or a table in memory, is full; make room"
	noMemory   = "the server is short of memory, threads or files; look at its error log"
	noWrites   = "the server takes no writes; it is a replica, or somebody has switched it"
	statements = "binlog_format is STATEMENT, which refuses writes at READ COMMITTED; set it to ROW on the server"
	tooLong    = "somebody or a limit on the time of statements has ended the statement; raise the limit for the worker's user"
	altered    = "a table was altered meanwhile"
)

// serverStates are the server's errors that are no job's fault, and that end without anything being done to a
// job. What needs somebody to look at a job, a table or a right is not here: ten failures make it dead, which
// is how somebody is asked. Nor is what the toolkit runs again anyway: see [onerow.Retryable].
var serverStates = map[uint16]string{
	1040: noSession, // max_connections
	1129: noSession, // max_connect_errors: the host is blocked
	1203: noSession, // max_user_connections
	1226: noSession, // the account's limits per hour
	1461: noSession, // max_prepared_stmt_count

	1021: noSpace, // disk full
	1026: noSpace, // error on write
	1030: noSpace, // an error of the engine: with InnoDB mostly of the disk
	1114: noSpace, // the table is full
	1878: noSpace, // temporary file
	3675: noSpace, // MySQL: no tablespace for want of disk

	1028: noMemory, // sort aborted
	1037: noMemory,
	1038: noMemory, // sort buffer
	1041: noMemory,
	1135: noMemory, // no new thread
	1206: noMemory, // locks
	1637: noMemory, // undo slots

	1290: noWrites, // read_only, super_read_only
	1792: noWrites, // transaction_read_only
	1836: noWrites, // read-only mode
	1874: noWrites, // innodb_read_only
	3032: noWrites, // MySQL: offline_mode
	3100: noWrites, // MySQL: a member without its group

	1598: statements,
	1665: statements,

	erQueryInterrupted: tooLong,

	1969: tooLong, // MariaDB: max_statement_time
	3024: tooLong, // MySQL: max_execution_time

	1412: altered,
	1615: altered, // a prepared statement that has to be prepared again
}

// serverState returns err with its explanation if it is about the state of the server; else nil. What an
// asset store says is not meant.
func serverState(err error) error {
	var my *mysql.MySQLError
	var assets *assetsError
	var known *ServerStateError
	switch {
	case errors.As(err, &known):
		return err
	case !errors.As(err, &my) || errors.As(err, &assets):
		return nil
	}
	advice, ok := serverStates[my.Number]
	if !ok {
		return nil
	}
	return &ServerStateError{Number: my.Number, Advice: advice, Err: err}
}

// IsServerState says whether err, of whatever verb, is about the state of the server ([ErrServerState]): what
// it refused then it may take later.
func IsServerState(err error) bool { return serverState(err) != nil }

// errEndedUnsaid: a statement that must have met rows has met none, see proved.
var errEndedUnsaid = &ServerStateError{Number: erQueryInterrupted, Advice: tooLong, Err: errors.New("a statement on locked rows has met none")}

// endedByServer says whether a state of the server hit the statement for what it did rather than whoever
// came: fewer rows may pass.
func endedByServer(err error) bool {
	var state *ServerStateError
	return errors.As(err, &state) && (state.Advice == tooLong || state.Number == 1206)
}

// everybodys says whether every job would meet a state of the server now. The others may be one job's alone:
// its DELETE waits for a lock for longer than a statement may take, or a trigger of its table writes to one
// that is full.
func everybodys(err error) bool {
	var state *ServerStateError
	return errors.As(err, &state) && (state.Advice == noSession || state.Advice == noWrites || state.Advice == statements)
}

// turnError is a state of the server that has ended a job's turn. The next job may fare better.
type turnError struct{ error }

func (e *turnError) Unwrap() error { return e.error }

// readOnly says whether err is [onerow.Check]'s of a server that takes no writes, which a job would meet as
// [ErrServerState].
func readOnly(err error) bool {
	var setting *onerow.SettingError
	return errors.As(err, &setting) && slices.Contains([]string{"read_only", "super_read_only", "innodb_read_only", "transaction_read_only", "tx_read_only"}, setting.Setting)
}

// explained is err, with its explanation if it is about the state of the server.
func explained(err error) error {
	if state := serverState(err); state != nil {
		return state
	}
	return err
}

// misfit says whether the worker's plan is not for this database, which is no fault of the
// job that it has not begun.
func misfit(err error) bool {
	var mismatch *planMismatch
	return errors.As(err, &mismatch) && !errors.Is(err, ErrDrift)
}

// unreachable passes on only what says that the next job would fare no better.
func (w *Worker) unreachable(err error) error {
	if lost(err) {
		return err
	}
	return nil
}

// transient says whether err says nothing about the job: the database refused a
// transaction, could not be reached, or did not answer. The network errors of an
// asset store are not meant.
func transient(err error) bool {
	var assets *assetsError
	return !errors.As(err, &assets) && (onerow.Retryable(err) || errors.Is(err, onerow.ErrOutcomeUnknown))
}
