package idempotency

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/internal/trace"
	"github.com/onerow/onerow/internal/wire"
)

// ended remembers keys that were seen to have ended, so that a call that comes again looks for the answer
// before it writes. It is a hint, and the primary key decides: a wrong one costs a statement. A key that
// has the place of another one takes it, so it never grows.
type ended struct {
	seed  maphash.Seed
	marks [1 << 14]atomic.Uint32
}

func (e *ended) of(key Key) (place *atomic.Uint32, mark uint32) {
	h := maphash.Comparable(e.seed, key)
	return &e.marks[h%uint64(len(e.marks))], uint32(h>>32) | 1 //nolint:gosec // half of it
}

func (e *ended) add(key Key) {
	place, mark := e.of(key)
	place.Store(mark)
}

func (e *ended) has(key Key) bool {
	place, mark := e.of(key)
	return place.Load() == mark
}

func (e *ended) forget(key Key) {
	place, mark := e.of(key)
	place.CompareAndSwap(mark, 0)
}

// sqlLook is a plain read by the primary key of a result that is final once it is seen, in one column, for a
// replay takes as long as its answer is wide. It is NULL where there is more to say than the result.
const sqlLook = `SELECT IF(status = 'complete' AND is_reference = 0 AND codec = '` + jsonForm + `' AND COALESCE(fingerprint = ?, TRUE), result, NULL)` +
	lookAt

// sqlLookTraced is sqlLook with what a span refers to.
const sqlLookTraced = `SELECT IF(status = 'complete' AND is_reference = 0 AND codec = '` + jsonForm + `' AND COALESCE(fingerprint = ?, TRUE), result, NULL), COALESCE(traceparent, '')` +
	lookAt

const lookAt = `
FROM onerow_key` + atKey + ` AND status IN ('complete', 'error') AND NOT COALESCE(expires_at <= UTC_TIMESTAMP(6), FALSE)`

// look is the way of a key that was seen to have ended: a plain read on a pool. done is false where the write
// has to decide. One statement, 2 for a stored error, another payload or a result by reference.
func look[T any](ctx context.Context, db onerow.DB, k *Keys, c *call) (out onerow.Result[T], done bool, err error) {
	if joined(db) || !k.ended.has(c.key) {
		return out, false, nil
	}
	var r *row
	err = single(ctx, db, func(db onerow.DB) (err error) {
		text, traced := lookText(ctx)
		query := func(scan func(*sql.Rows) error) error {
			return onerow.Query(wire.KeepPrepared(ctx), db, text, c.lookArgs(), scan)
		}
		if r, err = resultRow(query, traced); err != nil || r == nil || r.result.data != nil {
			return err
		}
		r, err = read(ctx, db, sqlRead, c.key)
		return err
	})
	if err == nil && r != nil {
		out, err = answer[T](ctx, db, k, c, r)
	}
	if err == nil && r == nil || errors.Is(err, errFree) {
		k.ended.forget(c.key)
		return out, false, nil
	}
	return out, true, err
}

// refusing reads the row that has refused the key. If it has ended, its result is all that is wanted,
// unless an attempt of this call may have written it. What refuses a key is committed, so a transaction of
// Do's own ends with the read. One statement, 2 as for look.
func refusing(ctx context.Context, tx *onerow.Tx, c *call, uncertain bool) (*row, error) {
	if tx.Joined() { // it goes on, and its snapshot may be older
		return read(ctx, tx, sqlReadCurrent, c.key)
	}
	last := func(query string, args []any) func(scan func(*sql.Rows) error) error {
		return func(scan func(*sql.Rows) error) error {
			return packet.QueryLast(wire.OwnQueries(ctx), tx, query, args, scan)
		}
	}
	if !uncertain {
		text, traced := lookText(ctx)
		if r, err := resultRow(last(text, c.lookArgs()), traced); err != nil || r != nil && r.result.data != nil {
			return r, err
		}
	}
	return scanRow(last(sqlRead, c.key.args()))
}

// resultRow is the row of sqlLook, without a result where there is more to say; nil if the key has not ended.
// It is small enough to be inlined, or its closures would be on the heap.
func resultRow(query func(scan func(*sql.Rows) error) error, traced bool) (found *row, err error) {
	err = query(func(rows *sql.Rows) error {
		found = &row{Entry: Entry{Status: Completed}}
		return found.scanResult(rows, traced)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

func (r *row) scanResult(rows *sql.Rows, traced bool) error {
	if traced {
		return rows.Scan(&r.result.data, &r.Traceparent)
	}
	return rows.Scan(&r.result.data)
}

// lookText is sqlLook, or what a span wants.
func lookText(ctx context.Context) (text string, traced bool) {
	if trace.On(ctx) {
		return sqlLookTraced, true
	}
	return sqlLook, false
}

func (c *call) lookArgs() []any { return append([]any{nullable(c.fingerprint)}, c.key.args()...) }

// told says on a span what came of the call, and refers to the claim before this one, whose result or failure
// it gets, or which it takes over.
func (c *call) told(span trace.Span, replayed bool) {
	if span.On() {
		span.Link(c.earlier)
		span.Set(slog.Bool("onerow.replayed", replayed), slog.Bool("onerow.taken_over", c.tookOver))
	}
}

// errFree: the row may be claimed. It rolls a transaction back, so that the next
// attempt takes the strong lock first.
var errFree = fmt.Errorf("idempotency: the key is free: %w", onerow.ErrMoved)

// leastRetryAfter keeps callers from asking all the time.
const leastRetryAfter = time.Second

// answer is what a row that is there means for a call: its outcome, or an error;
// errFree where the row may be claimed.
func answer[T any](ctx context.Context, db onerow.DB, k *Keys, c *call, r *row) (out onerow.Result[T], err error) {
	mine := r.mine(c)
	if !mine && !r.Expired {
		c.earlier = r.Traceparent
	}
	switch {
	case r.Expired && !mine: // as if there were no row
		return out, errFree
	case r.differs(c): // also where it is free because its work was not done
		return out, &Error{Kind: ErrMismatch, Key: c.key, Entry: r.Entry,
			text: fmt.Sprintf("the key %s was used with another payload at %s; use a new key for new work", c.key, r.Since.Format(time.RFC3339))}
	case r.free && !mine:
		return out, errFree
	}
	switch r.Status {
	case Completed:
		out = onerow.Result[T]{Changed: mine, Replayed: !mine}
		err = k.decode(ctx, db, c.key, r.result, &out.Row)
		if err != nil {
			out = onerow.Result[T]{}
		}
		return out, err
	case Failed:
		failed := &Error{Kind: ErrFailed, Key: c.key, Entry: r.Entry, Replayed: !mine,
			text: fmt.Sprintf("the work of the key %s failed for good at %s: %s", c.key, r.CompletedAt.Format(time.RFC3339), bare(r.Error))}
		if r.result.data != nil {
			var v T
			if err := k.decode(ctx, db, c.key, r.result, &v); err != nil {
				return out, errors.Join(failed, err)
			}
			failed.Result = v
		}
		return out, failed
	}
	return out, r.inProgress()
}

func (r *row) inProgress() error {
	until, late := r.LeaseUntil, ""
	if until.IsZero() {
		until = r.ExpectedCompletion
	}
	if r.Overdue {
		late = ", it is overdue"
	}
	wait := leastRetryAfter
	if !until.IsZero() {
		wait = max(wait, until.Sub(r.Since.Add(r.Age)))
	}
	return &Error{Kind: ErrInProgress, Key: r.Key, Entry: r.Entry, RetryAfter: wait, text: fmt.Sprintf("%s has had the key %s in progress since %s (%s)%s; ask again in %s",
		r.Holder, r.Key, r.Since.Format(time.RFC3339), r.Age.Round(time.Millisecond), late, wait.Round(time.Millisecond))}
}
