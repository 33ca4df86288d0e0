// Package store has the example's own tables: orders, carts, the queue of messages, and the bank's ledger
// (the bank is another system; its table is here only so that the example needs one server).
//
// # Orders
//
// An order's row is written before the bank is asked and again when the outcome is known. Both writes are
// proven by the claim of the order's idempotency key, so a request that lost its key writes nothing:
//
//	          ┌────────────────── not_charged ◄── the bank was not reached
//	          ▼                        ▲
//	charging ─┴──► paid, declined      │ the operator: the bank has no charge
//	          └──► unclear ────────────┤
//	                                   └─► paid: the bank has one, or says so late
//
// reference is derived from the key, is unique here, and goes to the bank with the charge.
//
// # Messages
//
// The queue stands for SQS: at least once, in any order, with a delay. A message id is sent once ([Send]).
//
// Statements, BEGIN, COMMIT and the proof of the claim counted: Begin 5, Settle 4, all others 1.
package store

import (
	"context"
	"database/sql"
	"embed"

	"github.com/onerow/onerow/examples/internal/connect"
)

//go:embed migrations/*.sql
var migrationFS embed.FS

// Migrate applies the toolkit's migrations and then the example's, see [connect.Migrate].
func Migrate(ctx context.Context, db *sql.DB) error {
	return connect.Migrate(ctx, db, migrationFS, "orders_goose_version")
}
