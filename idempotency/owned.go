package idempotency

import (
	"context"

	"github.com/onerow/onerow"
)

// sqlProve proves the token and holds the row until COMMIT, by the primary key; the
// version makes it change the row always.
const sqlProve = `UPDATE onerow_key SET version = version + 1` + held

// Owned runs fn in a transaction whose first statement proves that the claim is still
// the holder's. A take-over waits until it has ended, so what fn writes is written by the
// holder or not at all: [ErrLost], and fn was not called. A claim whose lease has
// ended passes while nobody has taken it over.
//
// With Complete as its last call the work and its completion commit together. fn may be run again, as with
// onerow.InTx; a COMMIT without an answer is onerow.ErrOutcomeUnknown. In a transaction it is a part of that.
// Statements: 3 and those of fn; 4 when it is lost.
func (k *Keys) Owned(ctx context.Context, db onerow.DB, claim Claim, fn func(ctx context.Context, tx *onerow.Tx) error) error {
	if err := claim.Key.Check(); err != nil {
		return err
	}
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, sqlProve, claim.Key.args(claim.Token)...)
		if err != nil {
			return err
		}
		if n != 1 {
			return k.lost(ctx, tx, claim, "", func(*row) bool { return false })
		}
		return fn(ctx, tx)
	})
}
