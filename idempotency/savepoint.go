package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/mysqlerr"
)

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
