package idempotency

import (
	"context"
	"errors"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/mysqlerr"
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
		return &verdict[T]{cause: permanent.error}
	case errors.Is(err, ErrUndone):
		return &verdict[T]{value: v}
	}
	return nil
}

var (
	// errApart rolls the transaction back in which a verdict was given: it is stored in a commit of its own.
	// It wraps nothing, so that no error within the verdict passes for one of this transaction.
	errApart = errors.New("idempotency: rolled back, as the function said")
	// errTaken: somebody has the key by now under which the verdict was to be stored.
	errTaken = errors.New("idempotency: the key was taken meanwhile")
)

// store writes the verdict under the key, which nobody has any more; errTaken if somebody else came
// between, or an attempt of this call whose answer was lost: what is stored then is not touched. One
// statement; with References, which may write, a transaction.
func (d *doCall[T]) store(ctx context.Context, db onerow.DB) (onerow.Result[T], error) {
	said := d.verdict
	write := func(ctx context.Context, db onerow.DB) error {
		o, err := d.outcomeOf(ctx, db, said.value, said.cause)
		if err != nil {
			return err
		}
		return d.append(ctx, db, o)
	}
	var err error
	if said.cause != nil || d.k.cfg.References == nil {
		err = single(ctx, db, func(db onerow.DB) error { return write(ctx, db) })
	} else {
		err = onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return write(ctx, tx) })
	}
	switch {
	case err == nil:
		return d.out, d.failure
	case !errors.Is(err, errTaken):
		_, err = d.busy(ctx, err)
	}
	return onerow.Result[T]{}, err
}

// sqlAppend writes a key that has ended: the primary key decides. Who holds it is waited for.
const sqlAppend = `INSERT INTO onerow_key (tenant, operation, idem_key, call_token, fingerprint, locked_by, status, codec, is_reference, result, error, expires_at,
  completed_at, created_at, locked_at, token)
VALUES (?, ?, ?, ?, ?, ` + dbtext.Param + `, ?, ?, ?, ?, ` + dbtext.Param + `, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND,
  UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)))`

// sqlReappend is sqlAppend for a row that was seen to be free, only as it was seen.
const sqlReappend = `UPDATE onerow_key SET call_token = ?, fingerprint = ?, locked_by = ` + dbtext.Param + `, locked_at = UTC_TIMESTAMP(6), attention = 0, token = token + 1, ` +
	setEnded + atKey + ` AND token = ? AND version = ?`

// append writes the finished key; errTaken if somebody else has it. One statement.
func (d *doCall[T]) append(ctx context.Context, db onerow.DB, o outcome) error {
	fingerprint := d.fingerprint
	if d.free != nil {
		fingerprint = d.free.payload(d.call)
	}
	query := sqlAppend
	args := append([]any{d.token[:], nullable(fingerprint), dbtext.Arg(d.k.cfg.Name)}, o.args()...)
	if d.free != nil {
		query, args = sqlReappend, append(args, d.key.args(d.free.Token, d.free.version)...)
	} else {
		args = d.key.args(args...)
	}
	n, err := onerow.Affected(ctx, db, query, args...)
	switch {
	case err == nil && n != 1, mysqlerr.Classify(err) == mysqlerr.Duplicate:
		return errTaken
	case err == nil, errors.Is(err, onerow.ErrOutcomeUnknown), errors.Is(err, onerow.ErrTxPoisoned):
		return err
	}
	return storeError(&keyWait{err})
}
