package r14

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution claims the order, then moves the counter, whose row is locked until COMMIT.
func Solution(ctx context.Context, db *sql.DB, order int64) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO invoice (order_id) VALUES (?)", order)
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return tx.Rollback() // the order has its number
	}
	var moved sql.Result
	if err == nil {
		moved, err = tx.ExecContext(ctx, "UPDATE series SET last_no = LAST_INSERT_ID(last_no + 1) WHERE name = 'invoice'")
	}
	if err == nil {
		var n int64
		if n, err = moved.RowsAffected(); err == nil && n != 1 {
			err = errors.New("there is no such series") // LAST_INSERT_ID() would be an older one
		}
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE invoice SET no = LAST_INSERT_ID() WHERE order_id = ?", order)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("numbering order %d: %w", order, err), tx.Rollback())
	}
	return tx.Commit()
}
