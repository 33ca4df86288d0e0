package r15

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution has one UPDATE look and take. A request that comes again finds its booking.
func Solution(ctx context.Context, db *sql.DB, request string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO booking (request_id, event_id) VALUES (?, 1)", request)
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return tx.Rollback()
	}
	var res sql.Result
	if err == nil {
		res, err = tx.ExecContext(ctx, "UPDATE event SET free = free - 1 WHERE id = 1 AND free >= 1")
	}
	var taken int64
	if err == nil {
		taken, err = res.RowsAffected()
	}
	if err == nil && taken == 0 {
		err = ErrSoldOut
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
