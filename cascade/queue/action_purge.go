package queue

import (
	"context"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/purge"
)

// The index acted_at leads to the old ones.
var oldActions = purge.Table{
	Find:   `SELECT id FROM onerow_action FORCE INDEX (acted_at) WHERE acted_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND ORDER BY acted_at LIMIT ?`,
	Delete: `DELETE a FROM onerow_action AS a FORCE INDEX (PRIMARY) WHERE a.acted_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND (`,
	Key:    `a.id = ?`,
}

// PurgeActions removes actions of more than age ago, by the database's clock, oldest first: limit at most. It
// returns how many: less than limit when no more are that old. It may run beside everything and beside
// itself, and be called again after any error. Two statements per 200.
func PurgeActions(ctx context.Context, db onerow.DB, age time.Duration, limit int) (purged int64, err error) {
	defer explain(&err, "purge actions")
	if err := checkPurge(age, limit); err != nil {
		return 0, err
	}
	return oldActions.Purge(ctx, db, limit, age.Microseconds())
}

// ActionsToPurge is how many PurgeActions would remove, limit at most. One statement.
func ActionsToPurge(ctx context.Context, db onerow.DB, age time.Duration, limit int) (n int64, err error) {
	defer explain(&err, "count old actions")
	return oldActions.Waiting(ctx, db, limit, age.Microseconds())
}
