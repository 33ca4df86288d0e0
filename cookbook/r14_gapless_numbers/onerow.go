package r14

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/serial"
)

// Onerow claims the next number for the order, and writes the invoice in the same commit.
func Onerow(ctx context.Context, db *sql.DB, order int64) error {
	invoices, err := serial.New("invoice")
	if err != nil {
		return err
	}
	_, err = invoices.ClaimWith(ctx, db, fmt.Sprintf("order/%d", order), 1, onerow.Stmt{
		Query: "INSERT INTO invoice (order_id, no) VALUES (?, LAST_INSERT_ID())", Args: []any{order},
	})
	return err
}
