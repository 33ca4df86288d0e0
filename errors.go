package onerow

import (
	"errors"
	"fmt"

	"github.com/onerow/onerow/internal/mysqlerr"
)

var (
	// ErrOutcomeUnknown means: COMMIT was sent and no answer came back, so the
	// transaction happened wholly or not at all. Call the verb again: the verbs of
	// this toolkit leave the tables as if they had been called once.
	ErrOutcomeUnknown = errors.New("onerow: the outcome of the transaction is unknown")

	// ErrTxPoisoned means: the server has rolled this transaction back, or a statement of it was interrupted,
	// and a statement was sent on it afterwards. The statement was not run. Return the first error from the
	// function that was given to InTx.
	ErrTxPoisoned = errors.New("onerow: the server has rolled this transaction back")

	// ErrNotUndone means: what a verb wrote in a caller's transaction before it failed cannot be taken back,
	// so nothing of that transaction may be committed. Roll it back.
	ErrNotUndone = errors.New("onerow: what was written before cannot be taken back, roll the whole transaction back")

	// ErrTooLarge means: a statement, with its values, is larger than what the server takes in one
	// packet. The transaction was rolled back; to run it again is of no use.
	ErrTooLarge = errors.New("onerow: the statement is larger than the server takes")

	// ErrNoTransaction means: the handle can neither begin a transaction nor is it one.
	ErrNoTransaction = errors.New("onerow: the handle is no pool and no transaction")

	// ErrMoved is for a function that was given to [InTx], [InIdempotentTx] or [Alone]: others have changed
	// what it read before it could write, or what refused its INSERT is gone. It is run again, as after a
	// refusal by the server.
	ErrMoved = errors.New("onerow: others changed the rows meanwhile")

	// ErrNotFound means: no row has this id, in neither table.
	ErrNotFound = errors.New("onerow: no such row")
)

// OutcomeUnknownError is the detail of [ErrOutcomeUnknown].
type OutcomeUnknownError struct {
	// Err is what the driver answered to COMMIT.
	Err error
}

// Error says what is unknown and what to do.
func (e *OutcomeUnknownError) Error() string {
	return fmt.Sprintf("onerow: COMMIT was sent and not answered, the outcome is unknown; call again to find out: %v", e.Err)
}

// Is makes errors.Is(err, ErrOutcomeUnknown) true.
func (e *OutcomeUnknownError) Is(target error) bool { return target == ErrOutcomeUnknown }

// Unwrap returns the driver's error.
func (e *OutcomeUnknownError) Unwrap() error { return e.Err }

// Retryable says whether the transaction in which err occurred may be run again
// from its first statement: the server refused it, the connection was lost
// before COMMIT was sent, or [ErrMoved]. It is what the owner of a joined transaction asks. It
// is false for ErrOutcomeUnknown and for business errors.
func Retryable(err error) bool {
	return !errors.Is(err, ErrOutcomeUnknown) && (mysqlerr.MayRunAgain(err) || errors.Is(err, ErrMoved))
}
