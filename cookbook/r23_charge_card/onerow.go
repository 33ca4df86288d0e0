package r23

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// Onerow claims the purchase's charge with its amount, charges it, and completes it in the commit that pays.
func Onerow(ctx context.Context, db *sql.DB, amount int, lease time.Duration) error {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	key := idempotency.Key{Operation: "charge", ID: "purchase/7"}
	claim, done, err := idempotency.Begin[int](ctx, db, keys, key, idempotency.Options{Lease: lease, Payload: amount})
	switch {
	case errors.Is(err, idempotency.ErrMismatch):
		return ErrMismatch
	case errors.Is(err, idempotency.ErrInProgress):
		return nil // another worker is at it
	case err != nil || done != nil:
		return err
	}
	if err := charge(ctx, db, "purchase/7", amount); err != nil {
		return err // perhaps charged: call again, when the lease is over
	}
	err = keys.Owned(ctx, db, claim, func(ctx context.Context, tx *onerow.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE purchase SET paid = ? WHERE id = 7", amount); err != nil {
			return err
		}
		return keys.Complete(ctx, tx, claim, amount)
	})
	if errors.Is(err, idempotency.ErrLost) {
		return nil // another worker has taken over, and pays
	}
	return err
}
