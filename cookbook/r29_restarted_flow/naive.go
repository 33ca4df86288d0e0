// Package r29 is recipe 29: a flow was restarted, and its old run goes on.
//
// Open this package when that recipe changes.
package r29

import (
	"context"
	"database/sql"
	"errors"
)

// ErrReplaced says that a newer run has taken over, and that this one has written nothing.
var ErrReplaced = errors.New("a newer run has taken over")

// Naive adds up the cart, and writes the total unless the cart has changed in between.
func Naive(ctx context.Context, db *sql.DB, run string) error {
	var total int
	if err := db.QueryRowContext(ctx, "SELECT SUM(price) FROM item WHERE cart_id = 1").Scan(&total); err != nil {
		return err
	}
	var newest string
	if err := db.QueryRowContext(ctx, "SELECT run FROM cart WHERE id = 1").Scan(&newest); err != nil {
		return err
	}
	if newest != run {
		return ErrReplaced
	}
	_, err := db.ExecContext(ctx, "UPDATE cart SET total = ? WHERE id = 1", total)
	return err
}

// Put puts an item into the cart. From then on the new run counts.
func Put(ctx context.Context, db *sql.DB, run string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE cart SET run = ? WHERE id = 1", run)
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO item (cart_id, price) VALUES (1, 5)")
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
