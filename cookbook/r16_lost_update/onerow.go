package r16

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// Onerow needs no version: the decision is in the WHERE, and the key makes a repeat harmless.
func Onerow(ctx context.Context, db *sql.DB, request string) error {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	key := idempotency.Key{Operation: "take", ID: request}
	took, err := idempotency.Do(ctx, db, keys, key, func(ctx context.Context, tx *onerow.Tx) (bool, error) {
		changed, err := onerow.Affected(ctx, tx, "UPDATE stock SET n = n - 1, version = version + 1 WHERE id = 1 AND n >= 1")
		return changed == 1, err
	})
	if err == nil && !took.Row {
		return ErrSoldOut
	}
	return err
}
