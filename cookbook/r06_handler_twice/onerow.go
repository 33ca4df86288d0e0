package r06

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// Onerow makes the message's id a key. A second delivery gets the first one's result.
func Onerow(ctx context.Context, db *sql.DB, message string) error {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	key := idempotency.Key{Operation: "points", ID: message}
	_, err = idempotency.Do(ctx, db, keys, key, func(ctx context.Context, tx *onerow.Tx) (int, error) {
		_, err := tx.ExecContext(ctx, "UPDATE customer SET points = points + 10 WHERE id = 7")
		return 10, err
	})
	return err
}
