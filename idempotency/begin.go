package idempotency

import (
	"context"
	"errors"
	"log/slog"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/trace"
)

// Claim is what Begin gives the one caller that acquired the key. It is plain data,
// so that it can be sent along with the work.
type Claim struct {
	Key Key `json:"key"`
	// Token is the fencing token. Give it to systems outside: they refuse what comes
	// with a smaller one than they have seen.
	Token int64 `json:"token"`
	// TakenOver: an earlier holder's lease had ended. It may have done part of the
	// work, or all of it, and it may still be running.
	TakenOver bool `json:"taken_over"`
}

// Begin is the first of two steps, for work outside the database. It answers
//
//   - a claim, and a nil outcome: this caller does the work, then calls Complete, Fail or Release with the
//     claim, or leaves that to [Work];
//   - an outcome: the work was done earlier, this is its result;
//   - [ErrInProgress]: somebody else has begun, and who and since when;
//   - [ErrFailed] with the stored error, and the result beside it if it has one, [ErrMismatch], or another
//     error: the database could not be asked, and nothing may be done.
//
// It does not wait for work in progress; it waits for a call of Do with the same key as Do does, see
// [ErrBusy]. Options: Payload, Expected, Lease. An unknown outcome is resolved by asking again; if that
// fails, it is ErrOutcomeUnknown. Statements: 1, 2 for a replay and an error, 3 where the key was free again.
func Begin[T any](ctx context.Context, db onerow.DB, keys *Keys, key Key, opts ...Options) (_ Claim, _ *onerow.Result[T], err error) {
	ctx, span := trace.Start(ctx, "idempotency.Begin", slog.String("onerow.operation", key.Operation))
	defer span.End(&err)
	c, err := keys.newCall(key, "Payload Expected Lease", opts)
	if err != nil {
		return Claim{}, nil, err
	}
	var claim Claim
	out, done, err := look[T](ctx, db, keys, c)
	for again := !done; again; {
		err = single(ctx, db, func(db onerow.DB) (err error) { claim, out, err = begin[T](ctx, db, keys, c); return err })
		again, err = c.busy(ctx, err)
		again = again && !joined(db)
	}
	c.told(span, out.Replayed)
	if err == nil && claim.Token != 0 {
		keys.event("started", key)
		if claim.TakenOver {
			keys.event("taken_over", key)
		}
		return claim, nil, nil
	}
	keys.tell(db, c, out.Changed, err)
	if err != nil {
		return Claim{}, nil, err
	}
	return Claim{}, &out, nil
}

// begin claims the key or finds what is there. Each statement may be sent again when
// its answer was lost: the row then has this call's token.
func begin[T any](ctx context.Context, db onerow.DB, k *Keys, c *call) (claim Claim, out onerow.Result[T], err error) {
	res, err := db.ExecContext(ctx, sqlClaim, c.key.args(k.claimArgs(ctx, c, c.fingerprint)...)...)
	if err == nil {
		// It is 0 where the table has a trigger: the server then takes back what LAST_INSERT_ID was. The
		// row has it.
		if token, err := res.LastInsertId(); token != 0 || err != nil {
			return Claim{Key: c.key, Token: token}, out, err
		}
	} else if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return claim, out, atKeyOf(err)
	}
	r, err := read(ctx, db, sqlReadCurrent, c.key)
	switch {
	case err != nil:
		return claim, out, atKeyOf(err)
	case r == nil: // purged, or rolled back, in between
		return claim, out, errFree
	case r.mine(c) && r.Status == InProgress:
		return Claim{Key: c.key, Token: r.Token, TakenOver: c.tookOver}, out, nil
	}
	out, err = answer[T](ctx, db, k, c, r)
	if !errors.Is(err, errFree) {
		return claim, out, err
	}
	c.tookOver = r.Status == InProgress
	won, err := k.reclaim(ctx, db, c, r)
	if err != nil {
		return claim, out, err
	}
	if won {
		return Claim{Key: c.key, Token: r.Token + 1, TakenOver: c.tookOver}, out, nil
	}
	return claim, out, errFree
}
