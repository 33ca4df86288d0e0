package r06

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution notes the message first, in the transaction that works. Nil has the queue drop the message.
func Solution(ctx context.Context, db *sql.DB, message string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO processed (message_id) VALUES (?)", message)
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return tx.Rollback() // it was processed, and committed
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE customer SET points = points + 10 WHERE id = 7")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("message %s: %w", message, err), tx.Rollback())
	}
	return tx.Commit()
}
