// Package r25 is recipe 25: an idempotency key that comes again with another payload.
//
// Open this package when that recipe changes.
package r25

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"
)

// Payment is the body of the request.
type Payment struct {
	Amount   int    `json:"amount"`
	Currency string `json:"currency"`
}

// Naive takes each request with a known key for a repetition.
func Naive(ctx context.Context, db *sql.DB, key string, p Payment) error {
	_, err := db.ExecContext(ctx, "INSERT INTO payment (idempotency_key, amount, currency) VALUES (?, ?, ?)", key, p.Amount, p.Currency)
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return nil // it was paid before
	}
	return err
}
