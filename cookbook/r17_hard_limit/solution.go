package r17

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution locks the account's row, then writes, then counts. The next request of this account waits at the
// lock.
func Solution(ctx context.Context, db *sql.DB, request string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	var most, n int
	err = tx.QueryRowContext(ctx, "SELECT max_projects FROM account WHERE id = 7 FOR UPDATE").Scan(&most)
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO project (account_id, request_id) VALUES (7, ?)", request)
	}
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return tx.Rollback() // this request has made its project
	}
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM project WHERE account_id = 7").Scan(&n)
	}
	if err == nil && n > most {
		err = ErrLimit
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
