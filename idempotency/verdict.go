package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// verdict is what a function said with which its writes do not stay: a permanent error, or [ErrUndone].
type verdict[T any] struct {
	cause error // of Permanent
	value T     // of ErrUndone
}

// verdictOf is the verdict in what a function returned, or nil.
func verdictOf[T any](v T, err error) *verdict[T] {
	if permanent, ok := errors.AsType[*permanentError](err); ok {
		return &verdict[T]{cause: permanent.error}
	}
	if errors.Is(err, ErrUndone) {
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

// enter runs the function. When it returns a verdict, what the function wrote in a caller's transaction has
// been taken back; in one of this call's own it is to be rolled back. A verdict on a transaction that the
// server has ended is none: it is the error, and the function may run again.
func (d *doCall[T]) enter(ctx context.Context, tx *onerow.Tx) (v T, said *verdict[T], err error) {
	var other error // of the function, which ends all of this call's writes
	err = tx.Savepoint(ctx, d.savepoint("b"), func() (err error) {
		v, err = d.fn(context.WithValue(ctx, depthKey{}, d.depth+1), tx)
		if said = verdictOf(v, err); said == nil {
			other = err
			return nil
		}
		return err
	})
	switch {
	case said == nil && err == nil:
		return v, nil, other
	case said == nil:
		return v, nil, err
	}
	if ended := endedTx(ctx, tx, err); ended != nil {
		return v, nil, errtext.Errorf("%w (the function: %w)", ended, err)
	}
	return v, said, nil
}

// sqlProbe does nothing. A guarded session whose transaction is lost refuses it.
const sqlProbe = "DO 0"

// endedTx is why there is no transaction any more behind a verdict, or nil. A statement is sent only where
// the verdict wraps an error with which the server may have ended it, past tx.
func endedTx(ctx context.Context, tx *onerow.Tx, verdict error) error {
	if mysqlerr.FromDriver(verdict) && mysqlerr.MayRunAgain(verdict) && tx.Err() == nil {
		if _, err := tx.ExecContext(ctx, sqlProbe); err != nil {
			return err
		}
	}
	return tx.Err()
}

// savepoint is a name that no other key has in the same transaction, nor a call with this key inside of this
// call, for a second savepoint of one name would replace the first. It is the same in each run.
func (d *doCall[T]) savepoint(part string) string {
	k := d.key
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %s%s%s", d.depth, len(k.Tenant), len(k.Operation), k.Tenant, k.Operation, k.ID))
	return "onerow_" + hex.EncodeToString(sum[:8]) + part
}

// depthKey is where the context of a function has how many calls of Do it is inside of.
type depthKey struct{}

func depth(ctx context.Context) int {
	n, _ := ctx.Value(depthKey{}).(int)
	return n
}
