package r16

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution makes each try a transaction of its own, which sees what the last one missed.
func Solution(ctx context.Context, db *sql.DB, request string) error {
	for range 5 {
		if done, err := try(ctx, db, request); done || err != nil {
			return err
		}
	}
	return ErrGaveUp
}

func try(ctx context.Context, db *sql.DB, request string) (done bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("beginning: %w", err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO taken (request_id, stock_id) VALUES (?, 1)", request)
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return true, tx.Rollback() // this request has taken its piece
	}
	var n, version int
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT n, version FROM stock WHERE id = 1").Scan(&n, &version)
	}
	var res sql.Result
	if err == nil {
		res, err = tx.ExecContext(ctx, "UPDATE stock SET n = ?, version = version + 1 WHERE id = 1 AND version = ?", n-1, version)
	}
	var changed int64
	if err == nil {
		changed, err = res.RowsAffected()
	}
	if err != nil || changed == 0 {
		return false, errors.Join(err, tx.Rollback())
	}
	return true, tx.Commit()
}
