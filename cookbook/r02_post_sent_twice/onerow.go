package r02

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// Onerow keeps key, payment and result in one commit, and refuses the key with another payload.
func Onerow(ctx context.Context, db *sql.DB, key string, amount int) (payment int64, err error) {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return 0, err
	}
	once := idempotency.Key{Tenant: "shop 7", Operation: "pay", ID: key}
	res, err := idempotency.Do(ctx, db, keys, once, func(ctx context.Context, tx *onerow.Tx) (int64, error) {
		res, err := tx.ExecContext(ctx, "INSERT INTO payment (amount) VALUES (?)", amount)
		if err != nil {
			return 0, err
		}
		return res.LastInsertId()
	}, idempotency.Options{Payload: amount})
	return res.Row, err
}
