package idempotency

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/onerow/onerow"
)

// sqlLook is a plain read by the primary key of what is final once it is seen, and of no more than a replay
// needs.
const sqlLook = `SELECT status, codec, is_reference, result, fingerprint, TIMESTAMPDIFF(MICROSECOND, completed_at, UTC_TIMESTAMP(6))
FROM onerow_key` + atKey + ` AND status IN ('complete', 'error') AND NOT COALESCE(expires_at <= UTC_TIMESTAMP(6), FALSE)`

// look is the fast path for a key that has ended: a plain read. done is false where the write has to decide.
// One statement, 2 for a stored error or another payload.
func look[T any](ctx context.Context, db onerow.DB, k *Keys, c *call) (out Outcome[T], done bool, err error) {
	var r *row
	err = single(ctx, db, func(db onerow.DB) (err error) {
		if r, err = readEnded(ctx, db, c.key); err == nil && r != nil && (r.Status == Failed || r.differs(c)) {
			r, err = read(ctx, db, sqlRead, c.key) // for a message, and a time
		}
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

// readEnded reads what a replay needs of a key that has ended, or nil. One statement.
func readEnded(ctx context.Context, db onerow.DB, key Key) (*row, error) {
	r := row{asked: time.Now()}
	var codec sql.NullString
	var since sql.NullInt64
	err := onerow.QueryRow(ctx, db, sqlLook, key.args(), &r.Status, &codec, &r.result.reference, &r.result.data, &r.fingerprint, &since)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.result.codec, r.sinceEnd = codec.String, duration(since.Int64)
	return &r, nil
}
