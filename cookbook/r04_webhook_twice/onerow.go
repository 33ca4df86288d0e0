package r04

import (
	"context"
	"database/sql"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/ordering"
)

// Onerow keeps the event's key, and lets the row's own time decide whether the event is news.
func Onerow(ctx context.Context, db *sql.DB, e Event) error {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	key := idempotency.Key{Tenant: "stripe", Operation: "event", ID: e.ID}
	purchases := ordering.ByTime{Table: "purchase", ID: "id", At: "status_at"}
	_, err = idempotency.Do(ctx, db, keys, key, func(ctx context.Context, tx *onerow.Tx) (bool, error) {
		change := ordering.Change{Set: map[string]any{"status": e.Status}}
		outcome, err := purchases.Update(ctx, tx, e.Order, time.UnixMicro(e.At), change)
		return outcome == ordering.Applied, err
	})
	return err
}
