// Package r18 is recipe 18: a cron job that must run once, on three machines.
//
// Open this package when that recipe changes.
package r18

import (
	"context"
	"database/sql"
)

// Naive runs the job if it has not run today, then notes that it has.
func Naive(ctx context.Context, db *sql.DB) error {
	var due bool
	err := db.QueryRowContext(ctx, "SELECT last_day < UTC_DATE() FROM cron WHERE name = 'report'").Scan(&due)
	if err != nil || !due {
		return err
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO report (day) VALUES (UTC_DATE())"); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "UPDATE cron SET last_day = UTC_DATE() WHERE name = 'report'")
	return err
}
