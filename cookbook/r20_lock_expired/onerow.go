package r20

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// Onerow begins with a claim, whose token Owned proves. Released in the end, the key is free for the next
// list.
func Onerow(ctx context.Context, db *sql.DB, _ string, lease time.Duration) error {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	claim, _, err := idempotency.Begin[int](ctx, db, keys, idempotency.Key{Operation: "price list", ID: "all"}, idempotency.Options{Lease: lease})
	switch {
	case errors.Is(err, idempotency.ErrInProgress):
		return ErrHeld
	case err != nil:
		return err
	}
	var amount int
	if err := db.QueryRowContext(ctx, "SELECT amount FROM price WHERE id = 1").Scan(&amount); err != nil {
		return err
	}
	err = keys.Owned(ctx, db, claim, func(ctx context.Context, tx *onerow.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE price_list SET amount = ? WHERE id = 1", amount); err != nil {
			return err
		}
		return keys.Release(ctx, tx, claim)
	})
	if errors.Is(err, idempotency.ErrLost) {
		return ErrLost
	}
	return err
}
