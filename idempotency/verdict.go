package idempotency

import (
	"context"
	"errors"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
)

// verdict is what a function said with which its writes do not stay: a permanent error, or [ErrUndone].
type verdict[T any] struct {
	cause error // of Permanent
	value T     // of ErrUndone
}

// verdictOf is the verdict in what a function returned, or nil.
func verdictOf[T any](v T, err error) *verdict[T] {
	var permanent *permanentError
	switch {
	case errors.As(err, &permanent):
		return &verdict[T]{cause: permanent.err}
	case errors.Is(err, ErrUndone):
		return &verdict[T]{value: v}
	}
	return nil
}

// errApart rolls the transaction back in which a verdict was given: it is stored in a commit of its own. It
// wraps nothing, so that no error within the verdict passes for one of this transaction.
var errApart = errors.New("idempotency: rolled back, as the function said")

// store writes the verdict under the key, as if the key had come last; errTaken if somebody else came
// between, or an attempt of this call whose answer was lost: what is stored then is not touched. One
// statement; with References, which may write, a transaction.
func (d *doCall[T]) store(ctx context.Context, db onerow.DB) (out Outcome[T], err error) {
	said := d.verdict
	if said.cause != nil {
		text := errorText(said.cause)
		d.log(Failed, said.cause)
		err = single(ctx, db, func(db onerow.DB) error { return d.append(ctx, db, Failed, stored{}, dbtext.Arg(text)) })
		if err == nil {
			return out, &FailedError{Key: d.call.key, Message: text, Err: said.cause}
		}
		return out, d.notStored(ctx, err)
	}
	d.log(Completed, nil)
	var replay T
	write := func(ctx context.Context, db onerow.DB) error {
		replay = *new(T)
		s, err := d.k.encode(ctx, db, d.call.key, said.value, &replay)
		if err != nil {
			return err
		}
		return d.append(ctx, db, Completed, s, nil)
	}
	if d.k.cfg.References == nil {
		err = single(ctx, db, func(db onerow.DB) error { return write(ctx, db) })
	} else {
		err = onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return write(ctx, tx) })
	}
	if err != nil {
		return out, d.notStored(ctx, err)
	}
	return outcome(replay, Fresh), nil
}

// notStored is an error of storing a verdict: a wait for somebody who came between is [ErrBusy].
func (d *doCall[T]) notStored(ctx context.Context, err error) error {
	if errors.Is(err, errTaken) {
		return err
	}
	_, err = d.call.busy(ctx, err)
	return err
}
