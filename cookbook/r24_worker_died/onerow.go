package r24

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// Onerow claims the job's key for a while. Owned proves that the claim still counts.
func Onerow(ctx context.Context, db *sql.DB, lease time.Duration) error {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	claim, done, err := idempotency.Begin[int](ctx, db, keys, idempotency.Key{Operation: "job", ID: "1"}, idempotency.Options{Lease: lease})
	if errors.Is(err, idempotency.ErrInProgress) || done != nil {
		return nil
	}
	if err != nil {
		return err
	}
	err = keys.Owned(ctx, db, claim, func(ctx context.Context, tx *onerow.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO report (job_id) VALUES (1)"); err != nil {
			return err
		}
		return keys.Complete(ctx, tx, claim, 1)
	})
	if errors.Is(err, idempotency.ErrLost) {
		return nil // taken over: the other one does it
	}
	return err
}
