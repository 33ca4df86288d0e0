package idempotency

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/packet"
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
// db is a pool, or a transaction that Do joins: then the key commits with it. Options: KeyLast,
// LookFirst, Payload, Fingerprint, Keep, Formerly. Errors: ErrBusy, ErrInProgress (of a key that was
// begun in two steps), ErrMismatch, ErrFailed, ErrTooLarge, ErrCodec, those of
// fn and of onerow. Statements: 4 and those of fn, see the package documentation.
func Do[T any](ctx context.Context, db onerow.DB, keys *Keys, key Key, fn func(ctx context.Context, tx *onerow.Tx) (T, error), opts ...Option) (Outcome[T], error) {
	var none Outcome[T]
	c, err := keys.newCall(key, doOptions, opts)
	if err != nil {
		return none, err
	}
	if err := c.rename(ctx, db); err != nil {
		keys.count(c, "", err)
		return none, err
	}
	d := &doCall[T]{k: keys, call: c, fn: fn}
	if c.look {
		if out, done, err := look[T](ctx, db, keys, c); done {
			keys.count(c, out.How, err)
			return out, err
		}
	}
	run := d.first
	if c.last {
		run = d.runKeyLast
	}
	out, err := run(ctx, db)
	err = refusedSize(c.key, err)
	if d.entered {
		keys.event(EventStarted, c.key)
	}
	keys.count(c, out.How, err)
	return out, err
}

// doCall is one call of Do.
type doCall[T any] struct {
	k    *Keys
	call *call
	fn   func(context.Context, *onerow.Tx) (T, error)
	// seen is a free row that the last attempt found; the next one claims it first.
	seen    *row
	entered bool
	out     Outcome[T]
	failure error       // that was committed
	verdict *verdict[T] // of the last run, whose transaction it ended; to be stored
	depth   int         // how many calls of Do this one is inside of
	// elsewhere: the last run's function failed with an error that is not the database's, perhaps
	// a network error of a call to elsewhere, which must not pass for one of the database.
	elsewhere bool
	// last: the last run came to the statement with which it ends.
	last bool
	// sent: with the key last, the last run came to its COMMIT. unsure: a run before this one did, and may be
	// committed.
	sent, unsure bool
}

// sqlClaim: the primary key decides. A second call waits here for the first one's
// COMMIT or ROLLBACK; waiters hold share locks on the record, so those that are
// to become the first after a ROLLBACK may deadlock, and are run again. LAST_INSERT_ID(expr) returns the
// token with the answer.
const sqlClaim = `INSERT INTO onerow_key (tenant, operation, idem_key, status, token, call_token, fingerprint, locked_by, created_at, locked_at,
  expected_completion, lease_until)
VALUES (?, ?, ?, 'in_progress', LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))), ?, ?, ` + dbtext.Param + `, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6),
  UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)`

// sqlReclaim claims a row that was seen to be free, by the primary key, only as it
// was seen: token and version together are never the same again. It locks the row exclusively at once.
const sqlReclaim = `UPDATE onerow_key SET status = 'in_progress', attention = 0, token = token + 1, version = version + 1, call_token = ?, fingerprint = ?,
  locked_by = ` + dbtext.Param + `, locked_at = UTC_TIMESTAMP(6), expected_completion = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND,
  lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, completed_at = NULL, expires_at = NULL, codec = NULL, is_reference = 0, result = NULL, error = NULL` +
	atKey + ` AND token = ? AND version = ?`

func (k *Keys) claimArgs(c *call, fingerprint []byte) []any {
	return []any{c.token[:], nullable(fingerprint), dbtext.Arg(k.cfg.Name), micros(c.expected), micros(c.lease)}
}

// reclaim claims a free row, if it is still as it was seen. One statement.
func (k *Keys) reclaim(ctx context.Context, db onerow.DB, c *call, seen *row) (bool, error) {
	n, err := onerow.Affected(ctx, db, sqlReclaim, append(k.claimArgs(c, seen.payload(c)), c.key.args(seen.Token, seen.version)...)...)
	if err != nil {
		return false, &keyWait{err}
	}
	return n == 1, nil
}

// first is Do with the key first.
func (d *doCall[T]) first(ctx context.Context, db onerow.DB) (Outcome[T], error) {
	for n := 1; ; n++ {
		err := onerow.InIdempotentTx(ctx, db, d.firstTx)
		if err == nil {
			return d.out, d.failure
		}
		err = d.notWritten(err)
		if errors.Is(err, errApart) {
			out, err := d.store(ctx, db)
			if !errors.Is(err, errTaken) {
				return out, err
			}
			if n == maxMoves {
				return out, &BusyError{Key: d.call.key, Err: fmt.Errorf("it was claimed by others %d times: %w", n, err)}
			}
			d.seen = nil
			continue // what is stored now is the answer, if it is one
		}
		again, err := d.call.busy(ctx, err)
		if !again || joined(db) {
			return Outcome[T]{}, err
		}
	}
}

func (d *doCall[T]) firstTx(ctx context.Context, tx *onerow.Tx) error {
	return d.whole(ctx, tx, d.firstWork)
}

func (d *doCall[T]) firstWork(ctx context.Context, tx *onerow.Tx) error {
	d.unsure = d.unsure || d.last || d.verdict != nil
	d.out, d.failure, d.verdict, d.last = Outcome[T]{}, nil, nil, false
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
	case verdict != nil && verdict.cause != nil:
		return d.fail(ctx, tx, verdict.cause)
	}
	var replay T
	s, err := d.k.encode(ctx, tx, d.call.key, v, &replay)
	if err != nil {
		return err
	}
	d.log(Completed, nil)
	d.out = outcome(replay, Fresh)
	d.last = true
	err = packet.ExecLast(ctx, tx, onerow.Stmt{
		Query: sqlStore, One: true,
		Args: append([]any{s.codec, s.reference, s.data, micros(d.call.keep)}, d.call.key.args(d.call.token[:])...),
	})
	if err != nil {
		return d.notWritten(storeError(err))
	}
	return nil
}

// notWritten is err of the statement that stores the result, which may have travelled with COMMIT.
func (d *doCall[T]) notWritten(err error) error {
	if d.last && errors.Is(err, onerow.ErrNotOneRow) {
		return d.one(0, nil)
	}
	return err
}

// claim claims the key, or finds the answer of whoever has. The key decides.
func (d *doCall[T]) claim(ctx context.Context, tx *onerow.Tx) (claimed bool, err error) {
	if seen := d.seen; seen != nil {
		if claimed, err = d.k.reclaim(ctx, tx, d.call, seen); err != nil || claimed {
			return claimed, err
		}
		d.seen = nil
	}
	_, err = tx.ExecContext(ctx, sqlClaim, d.call.key.args(d.k.claimArgs(d.call, d.call.fingerprint)...)...)
	if err == nil {
		return true, nil
	}
	if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return false, &keyWait{err}
	}
	r, err := d.refusing(ctx, tx)
	if err != nil {
		return false, err
	}
	if r == nil { // purged in between
		return false, errFree
	}
	d.out, err = answer[T](ctx, tx, d.k, d.call, r)
	if errors.Is(err, errFree) {
		d.seen = r
	}
	var failed *FailedError
	if errors.As(err, &failed) { // the answer, not a reason to roll back
		d.failure, err = err, nil
	}
	return false, err
}

// sqlStore writes the result into this transaction's own row, by the primary key.
const sqlStore = `UPDATE onerow_key SET status = 'complete', version = version + 1, codec = ?, is_reference = ?, result = ?,
  completed_at = UTC_TIMESTAMP(6), expires_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, expected_completion = NULL, lease_until = NULL` +
	atKey + ` AND call_token = ? AND status = 'in_progress'`

// sqlStoreError does so with an error, in the caller's transaction.
const sqlStoreError = `UPDATE onerow_key SET status = 'error', version = version + 1, error = ` + dbtext.Param + `,
  completed_at = UTC_TIMESTAMP(6), expires_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, expected_completion = NULL, lease_until = NULL` +
	atKey + ` AND call_token = ? AND status = 'in_progress'`

// fail stores a permanent error; what is returned is an error of storing it.
func (d *doCall[T]) fail(ctx context.Context, tx *onerow.Tx, cause error) error {
	text := errorText(cause)
	d.log(Failed, cause)
	d.failure = &FailedError{Key: d.call.key, Message: text, Err: cause}
	return d.one(onerow.Affected(ctx, tx, sqlStoreError, append([]any{dbtext.Arg(text), micros(d.call.keep)}, d.call.key.args(d.call.token[:])...)...))
}

func (d *doCall[T]) one(n int64, err error) error {
	if err == nil && n != 1 {
		return fmt.Errorf("idempotency: the row of the key %s was changed inside the transaction of its own call; the function must leave it alone", d.call.key)
	}
	return err
}

// log is called before the outcome is written.
func (d *doCall[T]) log(s Status, cause error) { d.k.logOutcome(d.call.key, 0, s, cause) }
