package ordering

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/onerow/onerow"
)

// forgetBatch is how many rows one DELETE removes.
const forgetBatch = 200

// The index received_at says which, without locks, oldest first; the primary key deletes them. A DELETE with ORDER BY and LIMIT
// alone reads and locks the whole table on both engines, to sort it.
const (
	sqlOldest = `SELECT stream, epoch, seq FROM onerow_stream_message FORCE INDEX (received_at) WHERE consumer = ? AND applied = 1
 AND received_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND ORDER BY received_at LIMIT ?`
	sqlForget = `DELETE m FROM onerow_stream_message AS m FORCE INDEX (PRIMARY) WHERE consumer = ? AND applied = 1 AND (`
	sqlOneOf  = `stream = ? AND epoch = ? AND seq = ?`
)

// Forget deletes rows of applied messages that came more than age ago, oldest first, at
// most limit of them, and returns how many. Parked messages stay. A duplicate of a
// forgotten message is Late. Call it until it returns less than limit. On a pool each
// 200 rows commit by themselves, so that an error may leave some of them deleted, which
// the number says. Two statements for each 200.
func (g *Guard[S]) Forget(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error) {
	forgotten := int64(0)
	for left := limit; left > 0; left -= forgetBatch {
		want := min(forgetBatch, left)
		var found int
		var n int64
		err := onerow.Alone(ctx, db, func(ctx context.Context, db onerow.DB) (err error) {
			args := []any{g.config.Consumer}
			found, n = 0, 0
			err = onerow.Query(ctx, db, sqlOldest, []any{g.config.Consumer, age.Microseconds(), want}, func(rows *sql.Rows) error {
				var stream []byte
				var epoch, seq int64
				err := rows.Scan(&stream, &epoch, &seq)
				args = append(args, stream, epoch, seq)
				found++
				return err
			})
			if err != nil || found == 0 {
				return err
			}
			list := strings.TrimPrefix(strings.Repeat(" OR "+sqlOneOf, found), " OR ")
			n, err = onerow.Affected(ctx, db, sqlForget+list+")", args...)
			return err
		})
		forgotten += n
		if err != nil {
			return forgotten, fmt.Errorf("ordering: forget messages of consumer %q: %w", g.config.Consumer, err)
		}
		if found < want || n == 0 { // none: another Forget is at the same rows
			break
		}
	}
	return forgotten, nil
}
