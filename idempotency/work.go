package idempotency

import (
	"context"
	"errors"
	"log/slog"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/trace"
)

// errStopped is stored for a function that neither returned a result nor an error.
var errStopped = errors.New("the function panicked or ended its goroutine; whether the work was done is not known")

// Work does the work of a claim and writes its outcome:
//
//	fn returns          the key                             Work returns
//	a result            complete                            it, Changed
//	NotDone(err)        released                            err
//	Permanent(err)      error                               ErrFailed with err
//	any other error     error, marked for attention         ErrFailed with err
//	panics              error, marked for attention         the panic goes on
//
// Any other error is one after which nobody knows what was done: a time-out, a broken connection. If
// the outcome cannot be written, Work returns the result all the same, and an error with
// [ErrLost] or [ErrCompletionLost]; a result that is [ErrTooLarge] is marked for
// attention. Option: Keep. Statements: those of Complete, Fail or Release.
func Work[T any](ctx context.Context, db onerow.DB, keys *Keys, claim Claim, fn func(ctx context.Context) (T, error), opts ...Options) (_ onerow.Result[T], err error) {
	ctx, span := trace.Start(ctx, "idempotency.Work", slog.String("onerow.operation", claim.Key.Operation))
	defer span.End(&err)
	var none onerow.Result[T]
	if _, err := keys.newCall(claim.Key, "Keep", opts); err != nil {
		return none, err
	}
	returned := false
	defer func() {
		if !returned { // a panic that goes on; the log has what cannot be returned
			if err := keys.Fail(ctx, db, claim, errStopped, Options{Attention: true}); err != nil {
				keys.cfg.Log.ErrorContext(ctx, "idempotency: a panic could not be recorded", attrs(claim.Key, claim.Token, Failed, err)...)
			}
		}
	}()
	v, err := fn(ctx)
	returned = true
	if err != nil {
		return none, keys.failWork(ctx, db, claim, err, opts)
	}
	var replay T
	err = keys.complete(ctx, db, claim, v, &replay, opts)
	out := onerow.Result[T]{Row: replay, Changed: true}
	if err != nil { // the work was done: its result is the caller's all the same
		out.Row = v
	}
	if errors.Is(err, ErrTooLarge) || errors.Is(err, ErrCodec) {
		err = errors.Join(err, keys.Fail(ctx, db, claim, errtext.Errorf("idempotency: the work was done, its result cannot be stored: %w", err), Options{Attention: true}))
	}
	return out, err
}

// failWork writes an error of a function and returns what its caller gets.
func (k *Keys) failWork(ctx context.Context, db onerow.DB, claim Claim, err error, opts []Options) error {
	if _, notDone := errors.AsType[*notDoneError](err); notDone {
		return join(err, k.Release(ctx, db, claim))
	}
	var o Options
	if len(opts) > 0 {
		o = opts[0]
	}
	_, permanent := errors.AsType[*permanentError](err)
	o.Attention = !permanent
	return join(failed(claim.Key, errorText(err), o.Attention, err), k.Fail(ctx, db, claim, err, o))
}

// join leaves an error alone to which there is nothing to add.
func join(err, more error) error {
	if more == nil {
		return err
	}
	return errors.Join(err, more)
}
