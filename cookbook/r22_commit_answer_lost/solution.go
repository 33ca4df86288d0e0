package r22

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution writes the request's id first. On a repetition a duplicate means: that was me, and it was
// committed.
func Solution(ctx context.Context, db *sql.DB, request string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO transfer (request_id, amount) VALUES (?, 30)", request)
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return tx.Rollback()
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE account SET balance = balance - 30 WHERE id = 1")
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE account SET balance = balance + 30 WHERE id = 2")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("moving the money: %w", err), tx.Rollback())
	}
	return tx.Commit()
}
