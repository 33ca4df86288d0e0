package idempotency

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/internal/wire"
)

// sqlLook is a plain read by the primary key of a result that is final once it is seen, in one column, for a
// replay takes as long as its answer is wide. It is NULL where there is more to say than the result.
// sqlReplay also has for how long it has been there.
const (
	sqlLook   = `SELECT ` + theResult + ofEnded
	sqlReplay = `SELECT ` + theResult + `, TIMESTAMPDIFF(MICROSECOND, completed_at, UTC_TIMESTAMP(6))` + ofEnded

	theResult = `IF(status = 'complete' AND is_reference = 0 AND codec = ? AND COALESCE(fingerprint = ?, TRUE), result, NULL)`
	ofEnded   = `
FROM onerow_key` + atKey + ` AND status IN ('complete', 'error') AND NOT COALESCE(expires_at <= UTC_TIMESTAMP(6), FALSE)`
)

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
	r, found := k.endedRow(), false
	err := onerow.Query(wire.KeepPrepared(ctx), db, sqlLook, k.endedArgs(c), func(rows *sql.Rows) error {
		found = true
		return rows.Scan(&r.result.data)
	})
	if err != nil || !found {
		return nil, err
	}
	return r, nil
}

// refusing reads the row that has refused the key. If it has ended, its result is all that is wanted,
// unless an attempt of this call may have written it. What refuses a key is committed, so a transaction of
// Do's own ends with the read. One statement, 2 as for look.
func (d *doCall[T]) refusing(ctx context.Context, tx *onerow.Tx) (*row, error) {
	if tx.Joined() { // it goes on, and its snapshot may be older
		return read(ctx, tx, sqlReadCurrent, d.call.key)
	}
	if !d.unsure && len(d.call.former) == 0 {
		r := d.k.endedRow()
		var sinceEnd sql.NullInt64
		err := packet.QueryLast(wire.OwnQueries(ctx), tx, sqlReplay, d.k.endedArgs(d.call), func(rows *sql.Rows) error { return rows.Scan(&r.result.data, &sinceEnd) })
		if err != nil || r.result.data != nil {
			r.sinceEnd = duration(sinceEnd.Int64)
			return r, err
		}
	}
	return scanRow(func(scan func(*sql.Rows) error) error {
		return packet.QueryLast(wire.OwnQueries(ctx), tx, sqlRead, d.call.key.args(), scan)
	})
}

func (k *Keys) endedRow() *row {
	r := &row{asked: time.Now(), sinceEnd: longAgo}
	r.Status, r.result.codec = Completed, k.cfg.Codecs[0].Name()
	return r
}

func (k *Keys) endedArgs(c *call) []any {
	return append([]any{k.cfg.Codecs[0].Name(), nullable(c.fingerprint)}, c.key.args()...)
}

// longAgo is when a key has ended for who has not waited for it.
const longAgo = time.Hour
