package r20

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Solution draws a number with the lock, and writes only while the number is the newest.
func Solution(ctx context.Context, db *sql.DB, _ string, lease time.Duration) error {
	res, err := db.ExecContext(ctx,
		"UPDATE lease SET token = LAST_INSERT_ID(token + 1), until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE name = 'prices' AND until < UTC_TIMESTAMP(6)",
		lease.Microseconds())
	if err != nil {
		return fmt.Errorf("taking the lock: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(ErrHeld, err)
	}
	token, err := res.LastInsertId()
	if err != nil {
		return fmt.Errorf("taking the lock: %w", err)
	}
	var amount int
	if err := db.QueryRowContext(ctx, "SELECT amount FROM price WHERE id = 1").Scan(&amount); err != nil {
		return fmt.Errorf("reading the price: %w", err)
	}
	return write(ctx, db, token, amount)
}

// write proves the token in the transaction that writes.
func write(ctx context.Context, db *sql.DB, token int64, amount int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	var newest int64
	err = tx.QueryRowContext(ctx, "SELECT token FROM lease WHERE name = 'prices' FOR UPDATE").Scan(&newest)
	if err == nil && newest != token {
		err = ErrLost
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE price_list SET amount = ? WHERE id = 1", amount)
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE lease SET until = UTC_TIMESTAMP(6) WHERE name = 'prices'")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("making the price list: %w", err), tx.Rollback())
	}
	return tx.Commit()
}
