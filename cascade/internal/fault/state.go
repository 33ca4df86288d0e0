package fault

import (
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/mysqlerr"
)

const (
	erOptionPrevents   = 1290
	erQueryInterrupted = 1317 // KILL QUERY
)

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

	erOptionPrevents: noWrites, // read_only, super_read_only
	1792:             noWrites, // transaction_read_only
	1836:             noWrites, // read-only mode
	1874:             noWrites, // innodb_read_only
	3032:             noWrites, // MySQL: offline_mode
	3100:             noWrites, // MySQL: a member without its group

	1598: statements,
	1665: statements,

	erQueryInterrupted: tooLong,

	1969: tooLong, // MariaDB: max_statement_time
	3024: tooLong, // MySQL: max_execution_time

	1412: altered,
	1615: altered, // a prepared statement that has to be prepared again
}

// ErrServerState is what queue.IsServerState asks for, with State as its detail.
var ErrServerState = errors.New("cascade: the state of the server, not of the job")

// State is a state of the server that has made it refuse, whatever the job is about: the detail of
// [ErrServerState].
type State struct {
	Number uint16 // the server's error number
	Advice string // what it means and what may be done
	Err    error  // what the driver reported
}

// Error says what it is and what may be done before what the server says.
func (s *State) Error() string { return fmt.Sprintf("%v: %s: %v", ErrServerState, s.Advice, s.Err) }

// Is makes errors.Is(err, ErrServerState) true.
func (s *State) Is(target error) bool { return target == ErrServerState }

// Unwrap returns what the driver reported.
func (s *State) Unwrap() error { return s.Err }

// ServerState returns the state of the server that err is about, nil if it is about none.
func ServerState(err error) *State {
	var my *mysql.MySQLError
	var known *State
	switch {
	case errors.As(err, &known):
		return known
	case !errors.As(err, &my) || ofAssets(err):
		return nil
	}
	advice, ok := serverStates[my.Number]
	if !ok || my.Number == erOptionPrevents && mysqlerr.Classify(my) != mysqlerr.NotHere { // secure_file_priv
		return nil
	}
	return &State{Number: my.Number, Advice: advice, Err: err}
}

// Explained is err, with the advice if it is about the state of the server and does not say so yet.
func Explained(err error) error {
	if state := ServerState(err); state != nil && !errors.Is(err, ErrServerState) {
		return state
	}
	return err
}

// ErrEndedUnsaid means that a statement that must have met rows has met none. MariaDB answers a DELETE of
// one table, and 11.8 an UPDATE, that KILL QUERY or max_statement_time has ended before its first row as if
// there were none; once it has met one it reports the error.
var ErrEndedUnsaid error = &State{Number: erQueryInterrupted, Advice: tooLong, Err: errors.New("a statement on locked rows has met none")}

// Statement says whether it hit the statement for what it did rather than whoever came: fewer rows may pass.
func (s *State) Statement() bool { return s.Advice == tooLong || s.Number == 1206 }

// Everybodys says whether every job would meet it now. The others may be one job's alone: its DELETE waits
// for a lock for longer than a statement may take, or a trigger of its table writes to one that is full.
func (s *State) Everybodys() bool {
	return s.Advice == noSession || s.Advice == noWrites || s.Advice == statements
}
