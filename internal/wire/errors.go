package wire

import (
	"errors"
	"fmt"

	"github.com/onerow/onerow/internal/answers"
)

// The errors that a transaction and a guarded session both make or look for. Package onerow has those that a
// caller meets, and says what they mean.
var (
	ErrOutcomeUnknown = answers.New(503, "the outcome is unknown; send the same request again", "onerow: the outcome of the transaction is unknown")
	ErrTxPoisoned     = answers.Fault("onerow: the server has rolled this transaction back")
	ErrNotUndone      = answers.Fault("onerow: what was written before cannot be taken back, roll the whole transaction back")
	ErrEndsTx         = errors.New("onerow: the statement would end the transaction, and was not run")
	ErrTxEnded        = answers.Fault("onerow: a statement has ended the transaction; what was written up to it may be committed")
	ErrRowsOpen       = errors.New("onerow: the rows of another query of this transaction are still open; close them before the next statement")

	// ErrLast marks the error of a statement that travelled with COMMIT: nothing was committed.
	ErrLast = errors.New("onerow: a statement that travelled with COMMIT failed")
	// ErrNotOneRow means: a statement that had to affect one row affected none, or several. It did what it
	// did.
	ErrNotOneRow = errors.New("onerow: not exactly one row was affected")
	// ErrApart means: the statements of a batch cannot travel together, and nothing was sent.
	ErrApart = errors.New("onerow: statements that were to travel together were not sent")
	// ErrGrouped is why what was written in a group stays.
	ErrGrouped = errors.New("onerow: there is no savepoint to go back to, for on a member of a replication group the server's are not safe")
	// ErrUnclearInGroup means: the server's savepoints prove nothing there, see onerow.Tx.Savepoint.
	ErrUnclearInGroup = errors.New("onerow: on a member of a replication group a statement of which the text does not show what it does (CALL, PREPARE, " +
		"EXECUTE, a comment that the server executes, several at once) is not run in a transaction, for nothing proves that it leaves the transaction open; " +
		"the statement was not run")
)

// SettledError is the answer of a function to which an attempt before it may have been committed. It has the
// answer's text.
type SettledError struct{ Err error }

// Error is that of the answer.
func (e *SettledError) Error() string { return e.Err.Error() }

// Unwrap returns the answer.
func (e *SettledError) Unwrap() error { return e.Err }

// OutcomeUnknownError is the detail of [ErrOutcomeUnknown].
type OutcomeUnknownError struct {
	// Err is what the driver answered to COMMIT.
	Err error
}

// Error says what is unknown and what to do.
func (e *OutcomeUnknownError) Error() string {
	return fmt.Sprintf("onerow: COMMIT was sent and not answered, the outcome is unknown; call again to find out: %v", e.Err)
}

// Unwrap returns [ErrOutcomeUnknown] and the driver's error.
func (e *OutcomeUnknownError) Unwrap() []error { return []error{ErrOutcomeUnknown, e.Err} }
