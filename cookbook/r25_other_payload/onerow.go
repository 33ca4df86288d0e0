package r25

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// Onerow gives the payload along with the key.
func Onerow(ctx context.Context, db *sql.DB, key string, p Payment) error {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	once := idempotency.Key{Tenant: "shop 7", Operation: "pay", ID: key}
	_, err = idempotency.Do(ctx, db, keys, once, func(ctx context.Context, tx *onerow.Tx) (bool, error) {
		_, err := tx.ExecContext(ctx, "INSERT INTO payment (amount, currency) VALUES (?, ?)", p.Amount, p.Currency)
		return true, err
	}, idempotency.Options{Payload: p})
	if errors.Is(err, idempotency.ErrMismatch) {
		return ErrOtherPayload
	}
	return err
}
