package load

import (
	"context"
	"errors"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"

	"github.com/onerow/onerow/proof/soak/journal"
)

// The operations of the keys, and the kinds of their effects.
const (
	OneCommit = "charge"
	TwoSteps  = "ship"
)

// KeyLease is how long a holder of a key in two steps has.
const KeyLease = 1500 * time.Millisecond

const insertEffect = `INSERT INTO soak_effect (kind, idem_key, value, token) VALUES (?, ?, ?, ?)`

// NeverWorks says whether the work of a key fails for good.
func NeverWorks(key string) bool { return hash("fails "+key, 10) == 0 }

var errNeverWorks = errors.New("the card is stolen")

// key is fresh, or one that others draw at the same time.
func (c *client) key() string {
	if c.rand.IntN(100) < 50 {
		return c.fresh()
	}
	return c.shared(500*time.Millisecond, 3)
}

// doKey does work inside the database under a key.
func (c *client) doKey(ctx context.Context) error {
	key := c.key()
	value := c.fresh()
	_, err := c.call(ctx, journal.Entry{Op: journal.Do, Key: key}, true, func(ctx context.Context, e *journal.Entry) error {
		out, err := idempotency.Do(ctx, c.db, c.keys, idempotency.Key{Operation: OneCommit, ID: key},
			func(ctx context.Context, tx *onerow.Tx) (string, error) {
				if _, err := tx.ExecContext(ctx, insertEffect, OneCommit, key, value, 0); err != nil {
					return "", err
				}
				if NeverWorks(key) {
					return "", idempotency.Permanent(errNeverWorks)
				}
				return value, nil
			})
		e.Value, e.Changed = out.Row, out.Changed
		if errors.Is(err, idempotency.ErrFailed) {
			e.Value = "failed for good"
		}
		return err
	})
	return err
}

// twoSteps claims a key with a lease and completes it, often in time.
func (c *client) twoSteps(ctx context.Context) error {
	key, slow := c.key(), 12
	if c.rand.IntN(5) == 0 { // one that others still draw when its lease has ended
		key, slow = c.shared(4*KeyLease, 5), 2
	}
	var claim idempotency.Claim
	e, err := c.call(ctx, journal.Entry{Op: journal.Begin, Key: key}, true, func(ctx context.Context, e *journal.Entry) error {
		got, out, err := idempotency.Begin[string](ctx, c.db, c.keys, idempotency.Key{Operation: TwoSteps, ID: key}, idempotency.Options{Lease: KeyLease})
		claim, e.Number, e.Changed = got, got.Token, got.TakenOver
		if out != nil {
			e.Value = out.Row
		}
		return err
	})
	if err != nil || e.Result != journal.OK || claim.Token == 0 {
		return err
	}
	work := c.upTo(30 * time.Millisecond)
	if c.rand.IntN(slow) == 0 {
		work = KeyLease/2 + c.upTo(KeyLease)
	}
	if !pause(ctx, work) {
		return nil // the lease ends, somebody else takes over
	}
	return c.complete(ctx, claim, c.fresh())
}

// complete writes the effect and the completion in one transaction that proves the claim. It is not called
// again: the claim is over then, one way or the other.
func (c *client) complete(ctx context.Context, claim idempotency.Claim, value string) error {
	_, err := c.call(ctx, journal.Entry{Op: journal.Complete, Key: claim.Key.ID, Number: claim.Token, Value: value}, false,
		func(ctx context.Context, _ *journal.Entry) error {
			return CompleteClaim(ctx, c.db, c.keys, claim, value)
		})
	return err
}

// CompleteClaim writes the effect of a claim and completes it.
func CompleteClaim(ctx context.Context, db onerow.DB, keys *idempotency.Keys, claim idempotency.Claim, value string) error {
	return keys.Owned(ctx, db, claim, func(ctx context.Context, tx *onerow.Tx) error {
		if _, err := tx.ExecContext(ctx, insertEffect, TwoSteps, claim.Key.ID, value, claim.Token); err != nil {
			return err
		}
		return keys.Complete(ctx, tx, claim, value)
	})
}
