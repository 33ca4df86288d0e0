package ordering

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/purge"
)

// oldMessages are found by the index received_at, oldest first and without a lock, and deleted by the primary
// key.
var oldMessages = purge.Table{
	Find: `SELECT stream, epoch, seq FROM onerow_stream_message FORCE INDEX (received_at) WHERE consumer = ? AND applied = 1
 AND received_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND ORDER BY received_at LIMIT ?`,
	Delete: `DELETE m FROM onerow_stream_message AS m FORCE INDEX (PRIMARY) WHERE consumer = ? AND applied = 1
 AND received_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND (`,
	Key: `stream = ? AND epoch = ? AND seq = ?`,
}

// sqlNextConsumer reads one entry of the primary key, without a lock.
const sqlNextConsumer = `SELECT consumer FROM onerow_stream_message FORCE INDEX (PRIMARY) WHERE consumer > ? ORDER BY consumer LIMIT 1`

// Forget deletes rows of applied messages that came more than age ago, of one consumer after the other and
// oldest first, at most limit of them, and returns how many. Parked messages stay. A duplicate of a forgotten
// message is Late. Call it until it returns less than limit. On a pool each 200 rows commit by themselves, so
// that an error may leave some of them deleted, which the number says. Two statements for each 200, and one
// for each consumer.
func Forget(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error) {
	return eachConsumer(ctx, db, age, limit, oldMessages.Purge)
}

// ToForget returns how many messages Forget would delete, limit at most. Two statements for each consumer.
func ToForget(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error) {
	return eachConsumer(ctx, db, age, limit, oldMessages.Waiting)
}

// eachConsumer adds up what fn returns for the consumers that have messages, until that is limit.
func eachConsumer(ctx context.Context, db onerow.DB, age time.Duration, limit int, fn func(context.Context, onerow.DB, int, ...any) (int64, error)) (total int64, err error) {
	for consumer := ""; total < int64(limit); {
		err := onerow.QueryRow(ctx, db, sqlNextConsumer, []any{consumer}, &consumer)
		if errors.Is(err, sql.ErrNoRows) {
			return total, nil
		}
		if err != nil {
			return total, errtext.Wrap(err, "ordering: look for consumers")
		}
		n, err := fn(ctx, db, limit-int(total), consumer, age.Microseconds())
		total += n
		if err != nil {
			return total, errtext.Wrap(err, "ordering: old messages of consumer %q", consumer)
		}
	}
	return total, nil
}
