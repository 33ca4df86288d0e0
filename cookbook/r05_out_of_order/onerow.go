package r05

import (
	"context"
	"database/sql"
	"time"

	"github.com/onerow/onerow/ordering"
)

// Onerow does the same, and says what became of the event: ordering.Applied, Duplicate or Late.
func Onerow(ctx context.Context, db *sql.DB, status string, at int64) error {
	purchases := ordering.ByTime{Table: "purchase", ID: "id", At: "status_at"}
	_, err := purchases.Update(ctx, db, 7, time.UnixMicro(at), ordering.Change{Set: map[string]any{"status": status}})
	return err
}
