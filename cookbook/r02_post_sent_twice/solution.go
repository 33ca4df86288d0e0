package r02

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// ErrOtherPayload is a key that came with another request before.
var ErrOtherPayload = errors.New("this key belongs to another request")

// Solution writes the key first. Whoever comes second waits for the first one's COMMIT, and reads its result.
func Solution(ctx context.Context, db *sql.DB, key string, amount int) (payment int64, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("beginning: %w", err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO request (idempotency_key, amount) VALUES (?, ?)", key, amount)
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return replay(ctx, db, key, amount, tx.Rollback())
	}
	var res sql.Result
	if err == nil {
		res, err = tx.ExecContext(ctx, "INSERT INTO payment (amount) VALUES (?)", amount)
	}
	if err == nil {
		payment, err = res.LastInsertId()
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE request SET payment_id = ? WHERE idempotency_key = ?", payment, key)
	}
	if err != nil {
		return 0, errors.Join(fmt.Errorf("paying: %w", err), tx.Rollback())
	}
	return payment, tx.Commit()
}

// replay answers with what the first request was answered.
func replay(ctx context.Context, db *sql.DB, key string, amount int, err error) (payment int64, _ error) {
	if err != nil {
		return 0, err
	}
	var first int
	err = db.QueryRowContext(ctx, "SELECT amount, payment_id FROM request WHERE idempotency_key = ?", key).Scan(&first, &payment)
	if err == nil && first != amount {
		err = ErrOtherPayload
	}
	return payment, err
}
