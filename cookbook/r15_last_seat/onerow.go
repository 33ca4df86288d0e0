package r15

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// Onerow keeps the request's key in the same commit. An error takes the key back, so a customer may try
// again.
func Onerow(ctx context.Context, db *sql.DB, request string) error {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	key := idempotency.Key{Operation: "book", ID: request}
	_, err = idempotency.Do(ctx, db, keys, key, func(ctx context.Context, tx *onerow.Tx) (bool, error) {
		taken, err := onerow.Affected(ctx, tx, "UPDATE event SET free = free - 1 WHERE id = 1 AND free >= 1")
		if err == nil && taken == 0 {
			err = ErrSoldOut
		}
		return true, err
	})
	return err
}
