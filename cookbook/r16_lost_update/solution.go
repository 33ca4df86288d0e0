package r16

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// ErrSoldOut says that no piece is left.
var ErrSoldOut = errors.New("sold out")

// Solution makes each try a transaction of its own, which sees what the last one missed.
func Solution(ctx context.Context, db *sql.DB, request string) error {
	var err error
	for range 5 {
		var done bool
		if done, err = try(ctx, db, request); done || err != nil && !refused(err) {
			return err
		}
	}
	return errors.Join(ErrGaveUp, err)
}

// refused says whether the server has refused the try, and would take another one.
func refused(err error) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && (server.Number == 1020 || server.Number == 1205 || server.Number == 1213)
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
	if err == nil && n < 1 {
		return true, errors.Join(ErrSoldOut, tx.Rollback())
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
