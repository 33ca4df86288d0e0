package r29

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow"
)

// Onerow proves that its run owns the cart, in the transaction that reads and writes.
func Onerow(ctx context.Context, db *sql.DB, run string) error {
	mine := flow.Run{Flow: "cart/1", RequestID: run}
	if _, err := flow.Claim(ctx, db, mine); err != nil {
		return replaced(err)
	}
	return replaced(onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := flow.Prove(ctx, tx, mine); err != nil {
			return err
		}
		var total int
		if err := tx.QueryRowContext(ctx, "SELECT SUM(price) FROM item WHERE cart_id = 1").Scan(&total); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE cart SET total = ? WHERE id = 1", total)
		return err
	}))
}

// OnerowPut makes the new run the owner in the commit that changes the cart.
func OnerowPut(ctx context.Context, db *sql.DB, run string) error {
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if _, err := flow.Supersede(ctx, tx, flow.Run{Flow: "cart/1", RequestID: run}); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO item (cart_id, price) VALUES (1, 5)")
		return err
	})
}

func replaced(err error) error {
	if errors.Is(err, flow.ErrLost) || errors.Is(err, flow.ErrOwned) {
		return ErrReplaced
	}
	return err
}
