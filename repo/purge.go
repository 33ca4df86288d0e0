package repo

import (
	"context"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/purge"
)

// oldRequests are found by the index created_at, oldest first and without a lock, and deleted by the primary
// key.
var oldRequests = purge.Table{
	Find: `SELECT resource, owner, request_id FROM onerow_request FORCE INDEX (created_at)
 WHERE created_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND ORDER BY created_at LIMIT ?`,
	Delete: `DELETE r FROM onerow_request AS r FORCE INDEX (PRIMARY) WHERE created_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND (`,
	Key:    `resource = ? AND owner = ? AND request_id = ?`,
}

// PurgeRequests forgets at most limit request ids, of all resources, that are older
// than age by the database's clock, and returns how many it forgot; fewer than limit
// means that no more are that old. A create with a forgotten request id makes a new
// row, so age must be longer than any client retries. Nothing is forgotten unless
// this is called, or cascade-worker runs, which forgets them after 30 days. On a pool each 200 commit by
// themselves, so that an error may leave some of them forgotten, which the number
// says. Two statements for each 200.
func PurgeRequests(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error) {
	if age <= 0 || limit <= 0 {
		return 0, fmt.Errorf("%w: purging requests older than %v, %d at most", ErrUnsupported, age, limit)
	}
	n, err := oldRequests.Purge(ctx, db, limit, age.Microseconds())
	if err != nil {
		return n, fmt.Errorf("repo: purge requests: %w", err)
	}
	return n, nil
}

// RequestsToPurge is how many request ids are older than age, limit at most. One statement.
func RequestsToPurge(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error) {
	n, err := oldRequests.Waiting(ctx, db, limit, age.Microseconds())
	if err != nil {
		return 0, fmt.Errorf("repo: count old requests: %w", err)
	}
	return n, nil
}
