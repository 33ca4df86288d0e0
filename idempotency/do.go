package idempotency

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/internal/trace"
)

// Do runs fn once for the key and commits its result with it; a later or concurrent
// call gets that result. fn writes through tx. Its errors:
//
//   - [Permanent]: what fn wrote is rolled back, the error is stored, and this and every later call
//     answers [ErrFailed] with it.
//   - [ErrUndone]: what fn wrote is rolled back, the value beside it is the result.
//   - any other: all of it is rolled back, the key too, and the error is returned. The next call runs fn
//     again.
//
// fn is entered again when the server refused its transaction, see the package
// documentation, and never while another call's is running. A caller that comes second waits
// for the first one until its context's deadline, then gets [ErrBusy]; without a
// deadline it waits for innodb_lock_wait_timeout, three times if that is short.
//
// db is a pool, or a transaction that Do joins: then the key commits with it. Options: Payload, Keep. Errors:
// ErrBusy, ErrInProgress (of a key that was begun in two steps), ErrMismatch, ErrFailed, ErrTooLarge,
// ErrCodec, those of fn and of onerow. Statements: 4 and those of fn, see the package documentation.
func Do[T any](ctx context.Context, db onerow.DB, keys *Keys, key Key, fn func(ctx context.Context, tx *onerow.Tx) (T, error), opts ...Options) (_ onerow.Result[T], err error) {
	ctx, span := trace.Start(ctx, "idempotency.Do", slog.String("onerow.operation", key.Operation))
	defer span.End(&err)
	c, err := keys.newCall(key, "Payload Keep", opts)
	if err != nil {
		return onerow.Result[T]{}, err
	}
	if out, done, err := look[T](ctx, db, keys, c); done {
		c.told(span, out.Replayed)
		keys.tell(db, c, out.Changed, err)
		return out, err
	}
	d := &doCall[T]{k: keys, call: c, fn: fn}
	out, err := d.run(ctx, db)
	err = refusedSize(key, err)
	if d.entered {
		keys.event("started", key)
	}
	c.told(span, out.Replayed)
	keys.tell(db, c, out.Changed, err)
	return out, err
}

type doCall[T any] struct {
	*call
	k  *Keys
	fn func(context.Context, *onerow.Tx) (T, error)
	// free is the row that the last run found and may claim; the next one claims it first.
	free    *row
	entered bool
	depth   int // how many calls of Do this one is inside of
	// Of the last run:
	out       onerow.Result[T]
	failure   error       // that was committed
	verdict   *verdict[T] // that ended its transaction, and is to be stored
	storing   bool        // it came to the statement that stores the result
	uncertain bool        // a run before it may be committed
}

// maxMoves is how often a key may be taken by others while its outcome is being stored, and be free again.
const maxMoves = 50

// run runs the transaction until it has an answer, and stores a verdict behind it.
func (d *doCall[T]) run(ctx context.Context, db onerow.DB) (out onerow.Result[T], err error) {
	for n := 1; ; n++ {
		err := onerow.InIdempotentTx(ctx, db, d.inTx)
		if err == nil {
			return d.out, d.failure
		}
		if errors.Is(err, errApart) {
			out, err := d.store(ctx, db)
			if !errors.Is(err, errTaken) {
				return out, err
			}
			if n == maxMoves {
				return out, d.busyError(fmt.Errorf("it was claimed by others %d times: %w", n, err))
			}
			d.free = nil
			continue // what is stored now is the answer, if it is one
		}
		again, err := d.busy(ctx, d.touched(err))
		if !again || joined(db) {
			return out, err
		}
	}
}

// inTx is one run. Nothing of it stays in its owner's transaction when it fails, panics, or its context ends:
// the owner may go on and commit. A transaction of this call is rolled back by who began it.
func (d *doCall[T]) inTx(ctx context.Context, tx *onerow.Tx) error {
	d.depth = depth(ctx)
	return tx.Savepoint(ctx, d.savepoint("a"), func() error {
		d.uncertain = d.uncertain || d.storing || d.verdict != nil
		d.out, d.failure, d.verdict, d.storing = onerow.Result[T]{}, nil, nil, false
		claimed, err := d.claim(ctx, tx)
		if err != nil || !claimed {
			return err
		}
		d.entered = true
		v, verdict, err := d.enter(ctx, tx)
		switch {
		case err != nil:
			return err
		case verdict != nil && !tx.Joined():
			d.verdict = verdict
			return errApart
		case verdict != nil:
			return d.end(ctx, tx, v, verdict.cause)
		}
		return d.end(ctx, tx, v, nil)
	})
}

// sqlClaim: the primary key decides. A second call waits here for the first one's COMMIT or ROLLBACK; waiters
// hold share locks on the record, so those that are to become the first after a ROLLBACK may deadlock, and
// are run again. LAST_INSERT_ID(expr) returns the token with the answer.
const sqlClaim = `INSERT INTO onerow_key (tenant, operation, idem_key, status, token, call_token, fingerprint, locked_by, created_at, locked_at,
  expected_completion, lease_until, traceparent)
VALUES (?, ?, ?, 'in_progress', LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))), ?, ?, ` + dbtext.Param + `, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6),
  UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, ?)`

// sqlReclaim claims a row that was seen to be free, by the primary key, only as it
// was seen: token and version together are never the same again. It locks the row exclusively at once.
const sqlReclaim = `UPDATE onerow_key SET status = 'in_progress', attention = 0, token = token + 1, version = version + 1, call_token = ?, fingerprint = ?,
  locked_by = ` + dbtext.Param + `, locked_at = UTC_TIMESTAMP(6), expected_completion = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND,
  lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, traceparent = ?, completed_at = NULL, expires_at = NULL, codec = NULL, is_reference = 0, result = NULL, error = NULL` +
	atKey + ` AND token = ? AND version = ?`

func (k *Keys) claimArgs(ctx context.Context, c *call, fingerprint []byte) []any {
	return []any{c.token[:], nullable(fingerprint), dbtext.Arg(k.cfg.Name), micros(c.Expected), micros(c.Lease), trace.Parent(ctx)}
}

// reclaim claims a free row, if it is still as it was seen. One statement.
func (k *Keys) reclaim(ctx context.Context, db onerow.DB, c *call, seen *row) (bool, error) {
	n, err := onerow.Affected(ctx, db, sqlReclaim, append(k.claimArgs(ctx, c, seen.payload(c)), c.key.args(seen.Token, seen.version)...)...)
	return n == 1, atKeyOf(err)
}

// claim claims the key, or finds the answer of whoever has. The key decides.
func (d *doCall[T]) claim(ctx context.Context, tx *onerow.Tx) (claimed bool, err error) {
	if d.free != nil {
		if claimed, err = d.k.reclaim(ctx, tx, d.call, d.free); err != nil || claimed {
			return claimed, err
		}
		d.free = nil
	}
	_, err = tx.ExecContext(ctx, sqlClaim, d.key.args(d.k.claimArgs(ctx, d.call, d.fingerprint)...)...)
	if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return err == nil, atKeyOf(err)
	}
	r, err := refusing(ctx, tx, d.call, d.uncertain)
	switch {
	case err != nil:
		return false, err
	case r == nil: // purged in between
		return false, errFree
	}
	d.out, err = answer[T](ctx, tx, d.k, d.call, r)
	switch {
	case errors.Is(err, errFree):
		d.free = r
	case errors.Is(err, ErrFailed): // the answer, not a reason to roll back
		d.failure, err = err, nil
	}
	return false, err
}

// outcomeOf is how the key ends by what the function returned, and notes what this call answers then.
func (d *doCall[T]) outcomeOf(ctx context.Context, db onerow.DB, v T, cause error) (o outcome, err error) {
	o = outcome{status: Completed, keep: d.Keep}
	if cause != nil {
		o.status, o.text = Failed, errorText(cause)
		d.failure = failed(d.key, o.text, false, cause)
	} else {
		var replay T
		if o.result, err = d.k.encode(ctx, db, d.key, v, &replay); err != nil {
			return o, err
		}
		d.out = onerow.Result[T]{Row: replay, Changed: true}
	}
	d.k.logOutcome(ctx, d.key, 0, o.status, cause)
	return o, nil
}

// sqlStore writes the outcome into this transaction's own row, by the primary key.
const sqlStore = `UPDATE onerow_key SET ` + setEnded + atKey + ` AND call_token = ? AND status = 'in_progress'`

// end stores the result of the function, or its permanent error in a caller's transaction, by a statement
// that may travel with COMMIT. What it returns is an error of storing it.
func (d *doCall[T]) end(ctx context.Context, tx *onerow.Tx, v T, cause error) error {
	o, err := d.outcomeOf(ctx, tx, v, cause)
	if err != nil {
		return err
	}
	d.storing = true
	return d.touched(storeError(packet.ExecLast(ctx, tx, onerow.Stmt{
		Query: sqlStore, One: true, Args: append(o.args(), d.key.args(d.token[:])...),
	})))
}

// touched says why no row was this transaction's own when the outcome was stored, if that is what err is.
func (d *doCall[T]) touched(err error) error {
	if d.storing && errors.Is(err, onerow.ErrNotOneRow) {
		return fmt.Errorf("idempotency: the row of the key %s was changed inside the transaction of its own call; the function must leave it alone", d.key)
	}
	return err
}
