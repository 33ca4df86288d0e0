package r19

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/onerow/onerow/idempotency"
)

// Onerow claims the receipt, so that in most cases only one worker sends it, and sends it under the same key.
func Onerow(ctx context.Context, db *sql.DB, lease time.Duration) error {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	claim, sent, err := idempotency.Begin[string](ctx, db, keys, idempotency.Key{Operation: "receipt", ID: "7"}, idempotency.Options{Lease: lease})
	if errors.Is(err, idempotency.ErrInProgress) || sent != nil {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = idempotency.Work(ctx, db, keys, claim, func(ctx context.Context) (string, error) {
		return "sent", idempotency.NotDone(send(ctx, db, "receipt/7"))
	})
	if errors.Is(err, idempotency.ErrLost) {
		return nil // another worker has sent it, too, under the same key
	}
	return err
}
