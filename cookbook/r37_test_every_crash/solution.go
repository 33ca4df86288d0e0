package r37

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution makes all of it in one commit, under the request's id.
func Solution(ctx context.Context, db *sql.DB, request string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	err = purchase(ctx, tx, request)
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return tx.Rollback() // this request has made its purchase
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the purchase: %w", err), tx.Rollback())
	}
	return tx.Commit()
}

func purchase(ctx context.Context, tx *sql.Tx, request string) error {
	made, err := tx.ExecContext(ctx, "INSERT INTO purchase (customer_id, request_id) VALUES (7, ?)", request)
	if err != nil {
		return err
	}
	id, err := made.LastInsertId()
	if err != nil {
		return err
	}
	for _, item := range []string{"pencil", "paper"} {
		if _, err := tx.ExecContext(ctx, "INSERT INTO line (purchase_id, item) VALUES (?, ?)", id, item); err != nil {
			return err
		}
	}
	return nil
}
