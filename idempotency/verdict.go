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
func (d *doCall[T]) store(ctx context.Context, db onerow.DB) (out onerow.Result[T], err error) {
	said := d.verdict
	write := func(ctx context.Context, db onerow.DB) error {
		if said.cause != nil {
			return d.append(ctx, db, Failed, stored{}, dbtext.Arg(errorText(said.cause)))
		}
		var replay T
		s, err := d.k.encode(ctx, db, d.key, said.value, &replay)
		if err != nil {
			return err
		}
		out = onerow.Result[T]{Row: replay, Changed: true}
		return d.append(ctx, db, Completed, s, nil)
	}
	status := Completed
	if said.cause != nil {
		status = Failed
	}
	d.k.logOutcome(d.key, 0, status, said.cause)
	if said.cause != nil || d.k.cfg.References == nil {
		err = single(ctx, db, func(db onerow.DB) error { return write(ctx, db) })
	} else {
		err = onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return write(ctx, tx) })
	}
	switch {
	case err == nil && said.cause != nil:
		return out, failed(d.key, errorText(said.cause), false, said.cause)
	case err != nil && !errors.Is(err, errTaken):
		_, err = d.busy(ctx, err)
	}
	if err != nil {
		out = onerow.Result[T]{}
	}
	return out, err
}

// sqlAppend writes a key that has ended: the primary key decides. Who holds it is waited for.
const sqlAppend = `INSERT INTO onerow_key (tenant, operation, idem_key, status, token, call_token, fingerprint, locked_by, created_at, locked_at,
  completed_at, expires_at, codec, is_reference, result, error)
VALUES (?, ?, ?, ?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), ?, ?, ` + dbtext.Param + `, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6),
  UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, ?, ?, ?, ` + dbtext.Param + `)`

// sqlReappend is sqlAppend for a row that was seen to be free, only as it was seen.
const sqlReappend = `UPDATE onerow_key SET status = ?, attention = 0, token = token + 1, version = version + 1, call_token = ?, fingerprint = ?, locked_by = ` + dbtext.Param + `,
  locked_at = UTC_TIMESTAMP(6), expected_completion = NULL, lease_until = NULL,
  completed_at = UTC_TIMESTAMP(6), expires_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, codec = ?, is_reference = ?, result = ?, error = ` + dbtext.Param +
	atKey + ` AND token = ? AND version = ?`

// append writes the finished key, with text as an argument of dbtext.Param or nil; errTaken if somebody else
// has it. One statement.
func (d *doCall[T]) append(ctx context.Context, db onerow.DB, status Status, s stored, text any) error {
	fingerprint := d.fingerprint
	if d.free != nil {
		fingerprint = d.free.payload(d.call)
	}
	query := sqlAppend
	args := []any{string(status), d.token[:], nullable(fingerprint), dbtext.Arg(d.k.cfg.Name), micros(d.Keep), s.form(), s.reference, nullable(s.data), text}
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
