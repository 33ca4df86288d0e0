// Package r20 is recipe 20: a lock expired while its holder worked.
//
// Open this package when that recipe changes.
package r20

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

var (
	// ErrHeld says that somebody else is at it.
	ErrHeld = errors.New("the price list is being made")
	// ErrLost says that somebody else has taken over, and that nothing was written.
	ErrLost = errors.New("another worker has taken over")
)

// Naive takes the lock for a while, makes the price list, and gives the lock back.
func Naive(ctx context.Context, db *sql.DB, worker string, lease time.Duration) error {
	res, err := db.ExecContext(ctx, "UPDATE lease SET holder = ?, until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE name = 'prices' AND until < UTC_TIMESTAMP(6)",
		worker, lease.Microseconds())
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(ErrHeld, err)
	}
	var amount int
	if err := db.QueryRowContext(ctx, "SELECT amount FROM price WHERE id = 1").Scan(&amount); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "UPDATE price_list SET amount = ? WHERE id = 1", amount); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "UPDATE lease SET until = UTC_TIMESTAMP(6) WHERE name = 'prices' AND holder = ?", worker)
	return err
}
