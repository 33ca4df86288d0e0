package r21

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Solution begins the export. The unique index refuses a second one; what it refused may be this request,
// come again.
func Solution(ctx context.Context, db *sql.DB, request string, _ time.Duration) error {
	_, err := db.ExecContext(ctx, "INSERT INTO export (account_id, request_id) VALUES (7, ?)", request)
	var server *mysql.MySQLError
	if !errors.As(err, &server) || server.Number != 1062 {
		return err
	}
	var mine int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM export WHERE request_id = ?", request).Scan(&mine); err != nil {
		return fmt.Errorf("looking for the request: %w", err)
	}
	if mine == 0 {
		return ErrRunning
	}
	return nil
}
