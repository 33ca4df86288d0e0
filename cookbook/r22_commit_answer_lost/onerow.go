package r22

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
)

// Onerow tells InIdempotentTx that the function may run again after a COMMIT without an answer.
func Onerow(ctx context.Context, db *sql.DB, request string) error {
	err := onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		for _, statement := range []onerow.Stmt{
			{Query: "INSERT INTO transfer (request_id, amount) VALUES (?, 30)", Args: []any{request}},
			{Query: "UPDATE account SET balance = balance - 30 WHERE id = 1"},
			{Query: "UPDATE account SET balance = balance + 30 WHERE id = 2"},
		} {
			if _, err := tx.ExecContext(ctx, statement.Query, statement.Args...); err != nil {
				return err
			}
		}
		return nil
	})
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return nil
	}
	return err
}
