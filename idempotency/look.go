package idempotency

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/kept"
)

// sqlLook is a plain read by the primary key of a result that is final once it is seen, in one column, for a
// replay takes as long as its answer is wide. It is NULL where there is more to say than the result.
const sqlLook = `SELECT IF(status = 'complete' AND is_reference = 0 AND codec = ? AND COALESCE(fingerprint = ?, TRUE), result, NULL)
FROM onerow_key` + atKey + ` AND status IN ('complete', 'error') AND NOT COALESCE(expires_at <= UTC_TIMESTAMP(6), FALSE)`

// look is the fast path for a key that has ended: a plain read. done is false where the write has to
// decide. One statement, 2 for a stored error, another payload, another codec than the first or a result by
// reference.
func look[T any](ctx context.Context, db onerow.DB, k *Keys, c *call) (out Outcome[T], done bool, err error) {
	var r *row
	err = single(ctx, db, func(db onerow.DB) (err error) {
		if len(c.former) == 0 {
			if r, err = k.readResult(ctx, db, c); err != nil || r == nil || r.result.data != nil {
				return err
			}
		}
		r, err = read(ctx, db, sqlRead, c.key)
		return err
	})
	if err != nil || r == nil {
		return out, err != nil, err
	}
	out, err = answer[T](ctx, db, k, c, r)
	if errors.Is(err, errFree) {
		return out, false, nil
	}
	return out, true, err
}

// readResult reads the result of a key that has ended, and nothing of any other; nil if it has not. One
// statement.
func (k *Keys) readResult(ctx context.Context, db onerow.DB, c *call) (*row, error) {
	codec := k.cfg.Codecs[0].Name()
	r := row{asked: time.Now(), sinceEnd: longAgo}
	r.Status, r.result.codec = Completed, codec
	err := onerow.QueryRow(kept.Prepared(ctx), db, sqlLook, append([]any{codec, nullable(c.fingerprint)}, c.key.args()...), &r.result.data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &r, err
}

// longAgo is when a key has ended for who has not waited for it.
const longAgo = time.Hour
