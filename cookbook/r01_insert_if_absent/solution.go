package r01

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution writes first. A duplicate means that the account is there, whoever made it.
func Solution(ctx context.Context, db *sql.DB, email string) (id int64, err error) {
	res, err := db.ExecContext(ctx, "INSERT INTO account (email) VALUES (?)", email)
	if err == nil {
		return res.LastInsertId()
	}
	var server *mysql.MySQLError
	if !errors.As(err, &server) || server.Number != 1062 {
		return 0, fmt.Errorf("making the account: %w", err)
	}
	err = db.QueryRowContext(ctx, "SELECT id FROM account WHERE email = ?", email).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("finding the account: %w", err)
	}
	return id, nil
}
