package idempotency

import (
	"context"
	"errors"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// finishTime is how long an outcome may take to be written after the context of its work has ended.
const finishTime = 10 * time.Second

// joined says whether db is a transaction, which is its owner's to run again.
func joined(db onerow.DB) bool {
	if _, ours := db.(*onerow.Tx); ours {
		return true
	}
	_, isTx := db.(interface{ Commit() error })
	return isTx
}

// single runs statements that stand alone, as onerow.Alone does: so fn must be such that it may run
// again when it already has. A lock wait timeout is waited out until the context's deadline.
func single(ctx context.Context, db onerow.DB, fn func(db onerow.DB) error) error {
	for {
		err := onerow.Alone(ctx, db, func(_ context.Context, db onerow.DB) error { return fn(db) })
		_, hasDeadline := ctx.Deadline()
		if mysqlerr.Classify(err) != mysqlerr.TimedOut || errors.Is(err, onerow.ErrOutcomeUnknown) || !hasDeadline || ctx.Err() != nil || joined(db) {
			return err
		}
	}
}

// finishing lets an outcome be written although the context of its work has ended:
// the work was done. In a transaction that would be of no use.
func finishing(ctx context.Context, db onerow.DB) (context.Context, context.CancelFunc) {
	if joined(db) {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), finishTime)
}

// keyWait is an error of the statement at which calls with one key wait for each other.
type keyWait struct{ err error }

func (e *keyWait) Error() string { return "idempotency: at the key: " + e.err.Error() }
func (e *keyWait) Unwrap() error { return e.err }

// atKeyOf marks an error of a statement that waits at a key.
func atKeyOf(err error) error {
	if err == nil {
		return nil
	}
	return &keyWait{err}
}

// busy turns the end of a wait into [ErrBusy], and says whether to wait again. What an earlier run
// left unknown stays so, unless err is an answer; whether to wait is for this run's own error to say, and not
// for a wait that is told with what is unknown.
func (c *call) busy(ctx context.Context, err error) (again bool, _ error) {
	last := err
	switch {
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		c.unknown = err
	case c.unknown != nil && !mysqlerr.Answers(err):
		err = errtext.Errorf("%w (and then: %w)", c.unknown, err)
	}
	wait, waits := errors.AsType[*keyWait](last)
	if !waits {
		if c.contended && interrupted(ctx, err) || errors.Is(err, errFree) && !errors.Is(err, ErrBusy) { // of a call within the function
			// It ended between two waits, or others claimed the key each time that it was found free.
			err = c.busyError(err)
		}
		return false, err
	}
	class := mysqlerr.Classify(wait.err)
	contended := class == mysqlerr.TimedOut || class == mysqlerr.RolledBack
	ended := ctx.Err() != nil
	if _, hasDeadline := ctx.Deadline(); contended && hasDeadline && !ended {
		c.contended = true
		return true, err
	}
	if contended || ended {
		return false, c.busyError(err)
	}
	return false, err
}

// interrupted says whether err is what became of a run whose context ended, and not an answer that it got
// just before, a success among them.
func interrupted(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() == nil {
		return false
	}
	return errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)) || mysqlerr.MayRunAgain(err)
}

// storing is an error of the statement that stores a result.
type storing struct{ err error }

func (e *storing) Error() string { return "idempotency: store the result: " + e.err.Error() }
func (e *storing) Unwrap() error { return e.err }

// storeError marks what the statement that stores a result answered.
func storeError(err error) error {
	if err == nil {
		return nil
	}
	return &storing{err}
}

// refusedSize is [ErrTooLarge] where err is the server's refusal of a result, else err.
func refusedSize(key Key, err error) error {
	_, stores := errors.AsType[*storing](err)
	if large, refused := errors.AsType[*onerow.TooLargeError](err); stores && refused {
		return tooLarge(key, int(large.ArgumentSize), int(large.Limit), err)
	}
	return err
}
