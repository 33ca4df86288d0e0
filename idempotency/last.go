package idempotency

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/internal/wire"
)

// maxMoves is how often a key may be taken by others while the function runs, and be free again.
const maxMoves = 50

// errTaken: the key was there when the function had run; its transaction is rolled back.
var errTaken = errors.New("idempotency: the key was taken meanwhile")

// sqlAppend: the primary key decides, after the function has run. A second call waits here for the
// first one to end.
const sqlAppend = `INSERT INTO onerow_key (tenant, operation, idem_key, status, token, call_token, fingerprint, locked_by, created_at, locked_at,
  completed_at, expires_at, codec, is_reference, result, error)
VALUES (?, ?, ?, ?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), ?, ?, ` + dbtext.Param + `, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6),
  UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, ?, ?, ?, ` + dbtext.Param + `)`

// sqlReappend is sqlAppend for a row that was seen to be free, only as it was seen.
const sqlReappend = `UPDATE onerow_key SET status = ?, attention = 0, token = token + 1, version = version + 1, call_token = ?, fingerprint = ?, locked_by = ` + dbtext.Param + `,
  locked_at = UTC_TIMESTAMP(6), expected_completion = NULL, lease_until = NULL,
  completed_at = UTC_TIMESTAMP(6), expires_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, codec = ?, is_reference = ?, result = ?, error = ` + dbtext.Param +
	atKey + ` AND token = ? AND version = ?`

// runKeyLast is Do with the key last. Whatever the function answers, the key is asked
// before it is believed: its error may come from what an earlier call did.
func (d *doCall[T]) runKeyLast(ctx context.Context, db onerow.DB) (Outcome[T], error) {
	for n := 1; ; n++ {
		d.elsewhere = false
		err := onerow.InIdempotentTx(ctx, db, d.lastTx)
		if err == nil {
			return d.out, nil
		}
		if d.last && errors.Is(err, wire.ErrLast) {
			err = d.notAppended(err)
		}
		again, err := d.call.busy(ctx, err)
		switch {
		case again && !joined(db):
			continue
		case onerow.Retryable(err) && !d.elsewhere || ctx.Err() != nil || errors.Is(err, ErrBusy) || errors.Is(err, onerow.ErrNotUndone):
			return Outcome[T]{}, d.unasked(err)
		case n == maxMoves:
			return Outcome[T]{}, d.unasked(&BusyError{Key: d.call.key, Err: fmt.Errorf("it was claimed by others %d times: %w", n, err)})
		}
		out, again, err := d.ask(ctx, db, err)
		if !again {
			return out, err
		}
	}
}

// ask asks the key after the function's transaction was rolled back with err.
func (d *doCall[T]) ask(ctx context.Context, db onerow.DB, cause error) (out Outcome[T], again bool, err error) {
	var r *row
	err = single(ctx, db, func(db onerow.DB) (err error) { r, err = read(ctx, db, sqlReadCurrent, d.call.key); return err })
	if err != nil {
		if errors.Is(cause, errTaken) && !joined(db) { // by another call, or by a lost attempt of this one
			d.unsure = true
		}
		return out, false, d.unasked(errors.Join(cause, err))
	}
	d.seen, d.unsure = nil, false // a lost attempt that was not committed holds its key no more
	if r != nil {
		out, err = answer[T](ctx, db, d.k, d.call, r)
		if !errors.Is(err, errFree) {
			return out, false, err
		}
		d.seen = r
	}
	switch {
	case errors.Is(cause, errTaken):
		return out, true, nil
	case d.verdict == nil:
		return out, false, cause
	}
	out, err = d.store(ctx, db)
	if errors.Is(err, errTaken) { // somebody else's outcome, or that of a lost attempt of this call
		return out, true, nil
	}
	return out, false, err
}

// unasked is err where the key was not asked. The function runs before its key is written, so what it
// answers, an error of its own too, may come from what a lost attempt of this call has committed.
func (d *doCall[T]) unasked(err error) error {
	if !d.unsure || errors.Is(err, onerow.ErrOutcomeUnknown) {
		return err
	}
	return &onerow.OutcomeUnknownError{Err: err}
}

func (d *doCall[T]) lastTx(ctx context.Context, tx *onerow.Tx) error {
	d.unsure = d.unsure || d.sent // the last COMMIT had no answer, or a refusal
	err := d.whole(ctx, tx, d.lastWork)
	d.sent = err == nil && !tx.Joined()
	return err
}

func (d *doCall[T]) lastWork(ctx context.Context, tx *onerow.Tx) error {
	d.elsewhere, d.verdict, d.last = false, nil, false
	d.entered = true
	v, err := d.fn(deeper(ctx), tx)
	if err != nil {
		d.verdict = verdictOf(v, err)
		d.elsewhere = !mysqlerr.FromDriver(err)
		return err
	}
	var replay T
	s, err := d.k.encode(ctx, tx, d.call.key, v, &replay)
	if err != nil {
		return err
	}
	d.log(Completed, nil)
	d.out = outcome(replay, Fresh)
	d.last = true
	return d.notAppended(packet.ExecLast(ctx, tx, d.appendStmt(Completed, s, nil)))
}

// append writes the finished key, with text as an argument of dbtext.Param or nil; errTaken if somebody else
// has it. One statement.
func (d *doCall[T]) append(ctx context.Context, db onerow.DB, status Status, s stored, text any) error {
	stmt := d.appendStmt(status, s, text)
	n, err := onerow.Affected(ctx, db, stmt.Query, stmt.Args...)
	if err == nil && n != 1 {
		return errTaken
	}
	return d.notAppended(err)
}

func (d *doCall[T]) appendStmt(status Status, s stored, text any) onerow.Stmt {
	c := d.call
	fingerprint := c.fingerprint
	if d.seen != nil {
		fingerprint = d.seen.payload(c)
	}
	args := []any{string(status), c.token[:], nullable(fingerprint), dbtext.Arg(d.k.cfg.Name), micros(c.keep), s.name(), s.reference, nullable(s.data), text}
	if d.seen != nil {
		return onerow.Stmt{Query: sqlReappend, Args: append(args, c.key.args(d.seen.Token, d.seen.version)...), One: true}
	}
	return onerow.Stmt{Query: sqlAppend, Args: c.key.args(args...)}
}

// notAppended is the error of that statement, which may have travelled with COMMIT: errTaken if somebody
// else has the key.
func (d *doCall[T]) notAppended(err error) error {
	var wait *keyWait
	switch {
	case err == nil, errors.Is(err, errTaken), errors.As(err, &wait):
		return err
	case errors.Is(err, onerow.ErrNotOneRow), mysqlerr.Classify(err) == mysqlerr.Duplicate:
		return errTaken
	case errors.Is(err, onerow.ErrOutcomeUnknown), errors.Is(err, onerow.ErrTxPoisoned):
		return err
	}
	return storeError(&keyWait{err})
}
