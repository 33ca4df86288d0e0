package onerow

import (
	"errors"
	"slices"

	"github.com/onerow/onerow/internal/answers"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/wire"
)

var (
	// ErrOutcomeUnknown means: COMMIT was sent and no answer came back, so the transaction happened wholly or
	// not at all. Call the verb again: the verbs of this toolkit leave the tables as if called once.
	ErrOutcomeUnknown = wire.ErrOutcomeUnknown

	// ErrTxPoisoned means: the server has rolled this transaction back, or a statement of it was interrupted,
	// and a statement was sent on it afterwards. The statement was not run. Return the first error from the
	// function that was given to InTx.
	ErrTxPoisoned = wire.ErrTxPoisoned

	// ErrNotUndone means: what a verb wrote in a caller's transaction before it failed cannot be taken back,
	// so nothing of that transaction may be committed. Roll it back.
	ErrNotUndone = wire.ErrNotUndone

	// ErrEndsTx means: the statement would end the transaction that it was to be a part of. It was not run,
	// and the transaction is as it was. Leave BEGIN, COMMIT and ROLLBACK to [InTx], and change tables
	// elsewhere: a server commits what is open before CREATE, ALTER, DROP, TRUNCATE, LOCK TABLES and the
	// like, and what follows would be committed by itself.
	ErrEndsTx = wire.ErrEndsTx

	// ErrTxEnded means: a statement of which a text does not show what it does, CALL for one, has ended the
	// transaction. What was written before, and by it, may be committed; nothing was run after it. No call is
	// run again for that.
	ErrTxEnded = wire.ErrTxEnded

	// ErrRowsOpen means: the rows of a query of this transaction are still being read, and a session answers
	// one thing at a time. The statement was not sent, and the transaction is as it was. Read the rows to
	// their end or close them first, or collect them.
	ErrRowsOpen = wire.ErrRowsOpen

	// ErrNotOneRow means: a statement that had to affect one row ([Stmt].One) affected none, or several. It
	// did what it did.
	ErrNotOneRow = wire.ErrNotOneRow

	// ErrTooLarge means: a statement, with its values, is larger than what the server takes in one
	// packet. The transaction was rolled back; to run it again is of no use.
	ErrTooLarge = answers.New(413, "the request is too large", "onerow: the statement is larger than the server takes")

	// ErrNoTransaction means: the handle can neither begin a transaction nor is it one.
	ErrNoTransaction = errors.New("onerow: the handle is no pool and no transaction")

	// ErrMoved is for a function that was given to [InTx], [InIdempotentTx] or [Alone]: others have changed
	// what it read before it could write, or what refused its INSERT is gone. It is run again, as after a
	// refusal by the server.
	ErrMoved = answers.New(503, "others are changing the same thing; try again", "onerow: others changed the rows meanwhile")

	// ErrNotFound means: no row has this id, in neither table.
	ErrNotFound = answers.New(404, "not found", "onerow: no such row")
)

// OutcomeUnknownError is the detail of [ErrOutcomeUnknown]. Its Err is what the driver answered to COMMIT.
type OutcomeUnknownError = wire.OutcomeUnknownError

// Answer says what the client of an HTTP API should get, while err itself is for the log: a status, and a
// short text that names no table, id or statement. Where err wraps several errors of the toolkit, the
// outermost one answers. Another error is 503 where it is [Retryable], as a deadlock in the last try, or
// where somebody or a limit of time has ended the statement, 400 where a column cannot hold a value, else 500
// and "internal error"; nil is 200 and "".
func Answer(err error) (status int, text string) {
	if err == nil {
		return 200, ""
	}
	if known, ok := errors.AsType[interface {
		error
		Answer() (status int, text string)
	}](err); ok {
		return known.Answer()
	}
	if Retryable(err) || mysqlerr.Classify(err) == mysqlerr.Interrupted {
		return 503, "the server is busy; try again"
	}
	if slices.Contains([]uint16{1264, 1265, 1292, 1366, 1406}, mysqlerr.Number(err)) {
		return 400, "a value is too long, too large or of another type"
	}
	return answers.Default()
}

// Retryable says whether the transaction in which err occurred may be run again from its first statement: the
// server refused it, the connection was lost before COMMIT was sent, or [ErrMoved]. The owner of a joined
// transaction asks it. It is false for ErrOutcomeUnknown and for business errors.
func Retryable(err error) bool {
	return !errors.Is(err, ErrOutcomeUnknown) && (mysqlerr.MayRunAgain(err) || errors.Is(err, ErrMoved))
}
