package r07

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution inserts at once. A refused transaction has done nothing, and is sent again.
func Solution(ctx context.Context, db *sql.DB, who string) error {
	var err error
	for range 3 {
		_, err = db.ExecContext(ctx, "INSERT INTO seat (show_id, no, who) VALUES (1, 7, ?)", who)
		var server *mysql.MySQLError
		if !errors.As(err, &server) {
			return err
		}
		switch server.Number {
		case 1062:
			return holder(ctx, db, who)
		case 1213, 1205: // deadlock, lock wait timeout
		default:
			return fmt.Errorf("taking the seat: %w", err)
		}
	}
	return fmt.Errorf("taking the seat, three times: %w", err)
}

// holder says whether the seat is this caller's: the answer to an earlier call may have been lost.
func holder(ctx context.Context, db *sql.DB, who string) error {
	var has string
	if err := db.QueryRowContext(ctx, "SELECT who FROM seat WHERE show_id = 1 AND no = 7").Scan(&has); err != nil {
		return fmt.Errorf("asking who has the seat: %w", err)
	}
	if has != who {
		return ErrTaken
	}
	return nil
}
