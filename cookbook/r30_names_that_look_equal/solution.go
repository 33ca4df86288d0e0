package r30

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Solution inserts, and lets the index compare. A refused request may be this one, come again.
func Solution(ctx context.Context, db *sql.DB, request, name string) error {
	_, err := db.ExecContext(ctx, "INSERT INTO page (site_id, request_id, name) VALUES (1, ?, ?)", request, strings.TrimSpace(name))
	var server *mysql.MySQLError
	if !errors.As(err, &server) || server.Number != 1062 {
		return err
	}
	var mine int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM page WHERE request_id = ?", request).Scan(&mine); err != nil {
		return fmt.Errorf("looking for the request: %w", err)
	}
	if mine == 0 {
		return ErrTaken
	}
	return nil
}
