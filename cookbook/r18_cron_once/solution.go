package r18

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution claims the day, by the database's clock, in the transaction that does the work.
func Solution(ctx context.Context, db *sql.DB) error {
	var day string
	if err := db.QueryRowContext(ctx, "SELECT DATE_FORMAT(UTC_DATE(), '%Y-%m-%d')").Scan(&day); err != nil {
		return fmt.Errorf("asking for the day: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO cron_run (name, day) VALUES ('report', ?)", day)
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return tx.Rollback() // today's run is done
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO report (day) VALUES (?)", day)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the daily report: %w", err), tx.Rollback())
	}
	return tx.Commit()
}
