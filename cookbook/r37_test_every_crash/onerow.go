package r37

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// Onerow makes the purchase once for each request, and its id is the result.
func Onerow(ctx context.Context, db *sql.DB, request string) error {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	key := idempotency.Key{Tenant: "7", Operation: "purchase", ID: request}
	_, err = idempotency.Do(ctx, db, keys, key, func(ctx context.Context, tx *onerow.Tx) (int64, error) {
		made, err := tx.ExecContext(ctx, "INSERT INTO purchase (customer_id) VALUES (7)")
		if err != nil {
			return 0, err
		}
		id, err := made.LastInsertId()
		if err != nil {
			return 0, err
		}
		for _, item := range []string{"pencil", "paper"} {
			if _, err := tx.ExecContext(ctx, "INSERT INTO line (purchase_id, item) VALUES (?, ?)", id, item); err != nil {
				return 0, err
			}
		}
		return id, nil
	})
	return err
}
