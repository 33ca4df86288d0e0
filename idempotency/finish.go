package idempotency

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/trace"
)

// held is the condition of every write of a claim: it is the holder's. By the primary key.
const held = atKey + ` AND token = ? AND status = 'in_progress'`

// outcome is how a key ends.
type outcome struct {
	status Status
	result stored
	text   string // of Failed
	keep   time.Duration
}

// setEnded is what ends a row, with the arguments of an outcome.
const setEnded = `status = ?, version = version + 1, codec = ?, is_reference = ?, result = ?, error = ` + dbtext.Param + `,
  completed_at = UTC_TIMESTAMP(6), expires_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, expected_completion = NULL, lease_until = NULL`

func (o outcome) args() []any {
	var text any // NULL
	if o.status == Failed {
		text = dbtext.Arg(o.text)
	}
	return []any{string(o.status), o.result.form(), o.result.reference, nullable(o.result.data), text, micros(o.keep)}
}

// is says whether the row has ended in this way: by an earlier call, or an attempt whose answer was lost.
func (o outcome) is(r *row) bool {
	return r.Status == o.status && (o.status == Released || r.Error == o.text && r.result.equal(o.result))
}

// sqlEnd ends a claim. The row of one that was released stays as long as that of finished work, with its
// payload, and for people to see; its token counts on from there.
const sqlEnd = `UPDATE onerow_key SET attention = ?, ` + setEnded + held

// sqlExtend moves what NULL does not keep.
const sqlExtend = `UPDATE onerow_key SET version = version + 1,
  expected_completion = COALESCE(UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, expected_completion),
  lease_until = COALESCE(UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, lease_until)` + held

// Complete stores the result of a claim: later calls of Begin get it. Called again with the same result it is
// a no-op.
//
// The work was done, so the result is written although ctx has ended, within 10 seconds. [ErrLost]: the claim
// is not the holder's any more, nothing was changed. [ErrTooLarge]: nothing was changed; complete with less.
// [ErrCompletionLost]: it could not be written. In each case result is still the result of the work: what the
// caller does with it is the caller's. In a transaction ([Keys.Owned]) it commits with that. Option: Keep.
// Statements: 1, 2 when it is lost or was complete.
func (k *Keys) Complete(ctx context.Context, db onerow.DB, claim Claim, result any, opts ...Options) error {
	return k.complete(ctx, db, claim, result, nil, opts)
}

// complete fills what replay points to with what later calls get.
func (k *Keys) complete(ctx context.Context, db onerow.DB, claim Claim, result, replay any, opts []Options) (err error) {
	ctx, span := trace.Start(ctx, "idempotency.Complete", slog.String("onerow.operation", claim.Key.Operation))
	defer span.End(&err)
	c, err := k.newCall(claim.Key, "Keep", opts)
	if err != nil {
		return err
	}
	ctx, cancel := finishing(ctx, db)
	defer cancel()
	s, err := k.encodeEnd(ctx, db, claim, Completed, result, replay)
	if err != nil {
		return err
	}
	return k.end(ctx, db, claim, outcome{status: Completed, result: s, keep: c.Keep}, false, nil)
}

// Fail stores an error of a claim whose work must not be done again: later calls of Begin get it as
// [ErrFailed]. With Attention it is counted by the gauge for humans and does not expire. Everything else is
// as with [Keys.Complete]. Options: Keep, Attention, Result. Statements: 1, 2 when it is lost or had failed.
func (k *Keys) Fail(ctx context.Context, db onerow.DB, claim Claim, cause error, opts ...Options) (err error) {
	ctx, span := trace.Start(ctx, "idempotency.Fail", slog.String("onerow.operation", claim.Key.Operation))
	defer span.End(&err)
	c, err := k.newCall(claim.Key, "Keep Attention Result", opts)
	if err != nil {
		return err
	}
	if cause == nil {
		return fmt.Errorf("%w: Fail needs the error to store", ErrInvalid)
	}
	ctx, cancel := finishing(ctx, db)
	defer cancel()
	o := outcome{status: Failed, text: errorText(cause), keep: c.Keep}
	if c.Attention {
		o.keep = 0
	}
	if c.Result != nil {
		if o.result, err = k.encodeEnd(ctx, db, claim, Failed, c.Result, nil); err != nil {
			return err
		}
	}
	return k.end(ctx, db, claim, o, c.Attention, cause)
}

// Release says that the work was not done, nothing of it: the next Begin gets the key, with a larger token,
// if it has the same payload or gives none. Everything else is as with [Keys.Complete]. Option: Keep, for how
// long the key remembers its payload. Statements: 1, 2 when it is lost or was released.
func (k *Keys) Release(ctx context.Context, db onerow.DB, claim Claim, opts ...Options) (err error) {
	ctx, span := trace.Start(ctx, "idempotency.Release", slog.String("onerow.operation", claim.Key.Operation))
	defer span.End(&err)
	c, err := k.newCall(claim.Key, "Keep", opts)
	if err != nil {
		return err
	}
	ctx, cancel := finishing(ctx, db)
	defer cancel()
	return k.end(ctx, db, claim, outcome{status: Released, keep: c.Keep}, false, nil)
}

// Extend moves the expected completion (Expected) and the end of the lease (Lease)
// of a claim, counted from now. A lease that has ended can be extended while nobody
// has taken the key over. [ErrLost]: stop. Statements: 1, 2 when it is lost.
func (k *Keys) Extend(ctx context.Context, db onerow.DB, claim Claim, opts ...Options) (err error) {
	ctx, span := trace.Start(ctx, "idempotency.Extend", slog.String("onerow.operation", claim.Key.Operation))
	defer span.End(&err)
	c, err := k.newCall(claim.Key, "Expected Lease", opts)
	if err != nil {
		return err
	}
	return single(ctx, db, func(db onerow.DB) error {
		return k.write(ctx, db, claim, outcome{}, sqlExtend, micros(c.Expected), micros(c.Lease))
	})
}

// encodeEnd encodes a result with which a claim is to end.
func (k *Keys) encodeEnd(ctx context.Context, db onerow.DB, claim Claim, to Status, result, replay any) (stored, error) {
	s, err := k.encode(ctx, db, claim.Key, result, replay)
	if err == nil || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrCodec) || errors.Is(err, ErrInvalid) {
		return s, err
	}
	return s, k.unwritten(ctx, claim, to, err) // References failed
}

// end ends a claim and says what becomes of an outcome that could not be written.
func (k *Keys) end(ctx context.Context, db onerow.DB, claim Claim, o outcome, attention bool, cause error) error {
	k.logOutcome(ctx, claim.Key, claim.Token, o.status, cause)
	unanswered := false
	err := single(ctx, db, func(db onerow.DB) error {
		err := k.write(ctx, db, claim, o, sqlEnd, append([]any{attention}, o.args()...)...)
		unanswered = unanswered || !joined(db) && (mysqlerr.Classify(err) == mysqlerr.ConnectionLost || err != nil && ctx.Err() != nil)
		return err
	})
	switch {
	case err == nil:
		k.event(map[Status]string{Completed: "completed", Failed: "failed", Released: "released"}[o.status], claim.Key)
		if o.status != Released && !joined(db) {
			k.ended.add(claim.Key)
		}
		return nil
	case errors.Is(err, ErrLost) && !unanswered:
		return err
	}
	if refused := refusedSize(claim.Key, err); errors.Is(refused, ErrTooLarge) { // nothing was changed
		return refused
	}
	if unanswered && !errors.Is(err, onerow.ErrOutcomeUnknown) { // the attempt without an answer may have come in time
		err = &onerow.OutcomeUnknownError{Err: err}
	}
	return k.unwritten(ctx, claim, o.status, err)
}

// unwritten reports an outcome that could not be written.
func (k *Keys) unwritten(ctx context.Context, claim Claim, to Status, err error) error {
	k.event("completion_lost", claim.Key)
	err = &Error{Kind: ErrCompletionLost, Key: claim.Key, Err: err,
		text: fmt.Sprintf("the work of the key %s (claim %d) ended as %s and that could not be written, the key stays in progress; write it again or tell an operator: %s",
			claim.Key, claim.Token, to, bare(err))}
	k.cfg.Log.ErrorContext(ctx, "idempotency: completion lost", attrs(claim.Key, claim.Token, to, err)...)
	return err
}

// write sends a conditional write of a claim. Where no row was in that condition, it asks whether this is how
// the claim has ended already.
func (k *Keys) write(ctx context.Context, db onerow.DB, claim Claim, o outcome, query string, args ...any) error {
	n, err := onerow.Affected(ctx, db, query, append(args, claim.Key.args(claim.Token)...)...)
	if err != nil || n == 1 {
		return storeError(err)
	}
	return k.lost(ctx, db, claim, o)
}

// lost finds out why no row was the claim's; nil where the claim has ended as o says.
func (k *Keys) lost(ctx context.Context, db onerow.DB, claim Claim, o outcome) error {
	r, err := read(ctx, db, sqlReadCurrent, claim.Key)
	if err != nil {
		return err
	}
	e := &Error{Kind: ErrLost, Key: claim.Key}
	switch {
	case r == nil:
		e.text = fmt.Sprintf("the claim %d of the key %s is lost: the key is gone; nothing was changed, stop", claim.Token, claim.Key)
	case r.Token != claim.Token:
		e.text = fmt.Sprintf("the claim %d of the key %s is lost: %s took it over at %s with the token %d (%s); nothing was changed, stop",
			claim.Token, claim.Key, r.Holder, r.Since.Format(time.RFC3339), r.Token, r.Status)
	case o.is(r):
		return nil
	default:
		e.text = fmt.Sprintf("the claim %d of the key %s has ended with the status %s; nothing was changed", claim.Token, claim.Key, r.Status)
	}
	if r != nil {
		e.Entry = r.Entry
	}
	k.event("lost", claim.Key)
	return e
}

// logOutcome is called before the outcome is written, so that a lost completion can
// be told from lost work. Do does not know its token.
func (k *Keys) logOutcome(ctx context.Context, key Key, token int64, s Status, cause error) {
	k.cfg.Log.InfoContext(ctx, "idempotency: outcome", attrs(key, token, s, cause)...)
}

func attrs(key Key, token int64, s Status, cause error) []any {
	list := []any{
		slog.String("tenant", key.Tenant), slog.String("operation", key.Operation), slog.String("key", key.ID), slog.String("status", string(s)),
	}
	if token != 0 {
		list = append(list, slog.Int64("token", token))
	}
	if cause != nil {
		list = append(list, slog.Any("error", cause))
	}
	return list
}

// longestError is how many bytes of an error are stored. The column has 65,535.
const longestError = 16000

// errorText is an error as it is stored; one that is cut says so.
func errorText(err error) string { return dbtext.Fit(err.Error(), longestError) }

// sqlProve proves the token and holds the row until COMMIT, by the primary key; the
// version makes it change the row always.
const sqlProve = `UPDATE onerow_key SET version = version + 1` + held

// Owned runs fn in a transaction whose first statement proves that the claim is still the holder's. A
// take-over waits until it has ended, so what fn writes is written by the holder or not at all: [ErrLost],
// and fn was not called. A claim whose lease has ended passes while nobody has taken it over.
//
// With Complete as its last call the work and its completion commit together. fn may be run again, as with
// onerow.InTx; a COMMIT without an answer is onerow.ErrOutcomeUnknown. In a transaction it is a part of that.
// Statements: 3 and those of fn; 4 when it is lost.
func (k *Keys) Owned(ctx context.Context, db onerow.DB, claim Claim, fn func(ctx context.Context, tx *onerow.Tx) error) (err error) {
	ctx, span := trace.Start(ctx, "idempotency.Owned", slog.String("onerow.operation", claim.Key.Operation))
	defer span.End(&err)
	if err := claim.Key.Check(); err != nil {
		return err
	}
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, sqlProve, claim.Key.args(claim.Token)...)
		if err != nil {
			return err
		}
		if n != 1 {
			return k.lost(ctx, tx, claim, outcome{})
		}
		return fn(ctx, tx)
	})
}
