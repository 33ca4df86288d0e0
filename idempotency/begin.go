package idempotency

import (
	"context"
	"errors"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// Begin is the first of two steps, for work outside the database. It answers
//
//   - a claim, and a nil outcome: this caller does the work, then calls Complete, Fail
//     or Release with the claim, or leaves that to [Work];
//   - an outcome: the work was done earlier, this is its result;
//   - [ErrInProgress]: somebody else has begun, and who and since when;
//   - [ErrFailed] with the stored error, and its [Result] if it has one, [ErrMismatch], or another error: the
//     database could not be asked, and nothing may be done.
//
// It does not wait for work in progress; it waits for a call of Do with the same key
// as Do does, see [ErrBusy]. Options: LookFirst, Payload, Fingerprint, Expect, Lease, Formerly.
// An unknown outcome is resolved by asking again; if that fails, it is ErrOutcomeUnknown.
// Statements: 1, 2 for a replay and an error, 3 where the key was free again.
func Begin[T any](ctx context.Context, db onerow.DB, keys *Keys, key Key, opts ...Option) (Claim, *Outcome[T], error) {
	c, err := keys.newCall(key, beginOptions, opts)
	if err != nil {
		return Claim{}, nil, err
	}
	if err := c.rename(ctx, db); err != nil {
		return begun(keys, c, Claim{}, Outcome[T]{}, err)
	}
	if c.look {
		if out, done, err := look[T](ctx, db, keys, c); done {
			return begun(keys, c, Claim{}, out, err)
		}
	}
	var claim Claim
	var out Outcome[T]
	for again := true; again; {
		err = single(ctx, db, func(db onerow.DB) (err error) { claim, out, err = begin[T](ctx, db, keys, c); return err })
		again, err = c.busy(ctx, err)
		again = again && !joined(db)
	}
	return begun(keys, c, claim, out, err)
}

func begun[T any](k *Keys, c *call, claim Claim, out Outcome[T], err error) (Claim, *Outcome[T], error) {
	if err == nil && claim.Token != 0 {
		k.event(EventStarted, c.key)
		if claim.TakenOver {
			k.event(EventTakenOver, c.key)
		}
		return claim, nil, nil
	}
	k.count(c, out.How, err)
	if err != nil {
		return Claim{}, nil, err
	}
	return Claim{}, &out, nil
}

// begin claims the key or finds what is there. Each statement may be sent again when
// its answer was lost: the row then has this call's token.
func begin[T any](ctx context.Context, db onerow.DB, k *Keys, c *call) (claim Claim, out Outcome[T], err error) {
	res, err := db.ExecContext(ctx, sqlClaim, c.key.args(k.claimArgs(c, c.fingerprint)...)...)
	if err == nil {
		// It is 0 where the table has a trigger: the server then takes back what LAST_INSERT_ID was. The
		// row has it.
		if token, err := res.LastInsertId(); token != 0 || err != nil {
			return Claim{Key: c.key, Token: token}, out, err
		}
	} else if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return claim, out, &keyWait{err}
	}
	r, err := read(ctx, db, sqlReadCurrent, c.key)
	switch {
	case err != nil:
		return claim, out, &keyWait{err}
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
