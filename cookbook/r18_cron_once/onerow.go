package r18

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// Onerow makes the day a key. The machines that come second get the first one's result.
func Onerow(ctx context.Context, db *sql.DB) error {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	var day string
	if err := db.QueryRowContext(ctx, "SELECT DATE_FORMAT(UTC_DATE(), '%Y-%m-%d')").Scan(&day); err != nil {
		return err
	}
	key := idempotency.Key{Operation: "daily report", ID: day}
	_, err = idempotency.Do(ctx, db, keys, key, func(ctx context.Context, tx *onerow.Tx) (string, error) {
		_, err := tx.ExecContext(ctx, "INSERT INTO report (day) VALUES (?)", day)
		return day, err
	})
	return err
}
