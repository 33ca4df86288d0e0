package idempotency

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

const (
	maxAttempts = 20
	firstPause  = 2 * time.Millisecond
	longPause   = 250 * time.Millisecond
	// finishTime is how long an outcome may take to be written after the context of its work
	// has ended.
	finishTime = 10 * time.Second
)

// joined says whether db is a transaction, which is its owner's to run again.
func joined(db onerow.DB) bool {
	if _, ours := db.(*onerow.Tx); ours {
		return true
	}
	_, isTx := db.(interface{ Commit() error })
	return isTx
}

// single runs statements that stand alone, each committed by itself on a pool. There
// they are sent again when the server refused them or the connection was lost:
// so fn must be such that it may run again when it already has. A lock wait timeout is waited out until
// the context's deadline.
func single(ctx context.Context, db onerow.DB, fn func() error) error {
	if joined(db) {
		return fn()
	}
	_, hasDeadline := ctx.Deadline()
	pause := firstPause
	for n := 1; ; n++ {
		err := fn()
		if err == nil || !onerow.Retryable(err) {
			return err
		}
		waits := mysqlerr.Classify(err) == mysqlerr.StatementUndone && hasDeadline
		if n >= maxAttempts && !waits {
			if mysqlerr.Classify(err) == mysqlerr.ConnectionLost {
				err = &onerow.OutcomeUnknownError{Err: err}
			}
			return fmt.Errorf("idempotency: gave up after %d attempts: %w", n, err)
		}
		timer := time.NewTimer(pause/2 + rand.N(pause)) //nolint:gosec // jitter, not a secret
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("idempotency: %w after %d attempts: %w", context.Cause(ctx), n, err)
		case <-timer.C:
		}
		pause = min(2*pause, longPause)
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

// busy turns the end of a wait into [ErrBusy], and says whether to wait again.
func (c *call) busy(ctx context.Context, err error) (again bool, _ error) {
	var wait *keyWait
	if !errors.As(err, &wait) {
		return false, err
	}
	class := mysqlerr.Classify(wait.err)
	contended := class == mysqlerr.StatementUndone || class == mysqlerr.RolledBack
	ended := ctx.Err() != nil
	if _, hasDeadline := ctx.Deadline(); contended && hasDeadline && !ended {
		return true, err
	}
	if contended || ended {
		return false, &BusyError{Key: c.key, Waited: time.Since(c.start), Err: err}
	}
	return false, err
}
