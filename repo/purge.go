package repo

import (
	"context"
	"fmt"
	"time"

	"github.com/onerow/onerow"
)

// purgeRequests: along the index created_at, oldest first, locking only what it
// deletes and, at REPEATABLE READ, the gaps between.
const purgeRequests = `DELETE FROM onerow_request WHERE created_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
  ORDER BY created_at LIMIT ?`

// PurgeRequests forgets at most limit request ids, of all resources, that are older
// than age by the database's clock, and returns how many it forgot; fewer than limit
// means that no more are that old. A create with a forgotten request id makes a new
// row, so age must be longer than any client retries. Nothing is forgotten unless
// this is called. One statement, one short transaction.
func PurgeRequests(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error) {
	if age <= 0 || limit <= 0 {
		return 0, fmt.Errorf("%w: purging requests older than %v, %d at most", ErrUnsupported, age, limit)
	}
	n, err := onerow.Affected(ctx, db, purgeRequests, age.Microseconds(), limit)
	if err != nil {
		return 0, fmt.Errorf("repo: purge requests: %w", err)
	}
	return n, nil
}
