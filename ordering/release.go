package ordering

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/trace"
)

// All by a range of the primary key, under the lock of the stream's context row.
const (
	// Nothing is read while the next one is missing, however many are parked behind it. The
	// parked rows may be newer than a caller's snapshot, hence the locking reads.
	sqlHeldFrom = `SELECT seq, payload FROM onerow_stream_message FORCE INDEX (PRIMARY) WHERE consumer = ? AND stream = ? AND epoch = ? AND seq > ? AND applied = 0
 AND EXISTS (SELECT 1 FROM onerow_stream_message AS n WHERE n.consumer = ? AND n.stream = ? AND n.epoch = ? AND n.seq = ? AND n.applied = 0
  LOCK IN SHARE MODE)
 ORDER BY seq LIMIT ? LOCK IN SHARE MODE`
	sqlFirstHeld = `SELECT epoch, seq FROM onerow_stream_message FORCE INDEX (PRIMARY) WHERE consumer = ? AND stream = ? AND (epoch = ? AND seq > ? OR epoch > ?)
 AND applied = 0 ORDER BY epoch, seq LIMIT 1 LOCK IN SHARE MODE`
	sqlDropHeld = `DELETE m FROM onerow_stream_message AS m FORCE INDEX (PRIMARY) WHERE consumer = ? AND stream = ? AND epoch = ? AND seq BETWEEN ? AND ? AND applied = 0`
	sqlKeepHeld = `UPDATE onerow_stream_message FORCE INDEX (PRIMARY) SET applied = 1 WHERE consumer = ? AND stream = ? AND epoch = ? AND seq BETWEEN ? AND ? AND applied = 0`
)

// Release applies the parked messages of a stream whose gap is closed. Apply does it by
// itself; Release is for what a crash left, should no message come, and after the
// reason of an ErrHeld is removed. It returns how many were applied.
func (g Guard[S]) Release(ctx context.Context, db onerow.DB, stream string, fn Func[S]) (_ int, err error) {
	ctx, span := trace.Start(ctx, "ordering.Release", slog.String("onerow.stream", stream))
	defer span.End(&err)
	var res Result[S]
	err = g.release(ctx, db, stream, fn, &res)
	return res.Released, err
}

// release runs batches until the next number is not parked. A message that fails ends its batch;
// those before it are run again without it.
func (g Guard[S]) release(ctx context.Context, db onerow.DB, stream string, fn Func[S], res *Result[S]) error {
	limit := batch
	var failed *StreamError
	for {
		var r released[S]
		err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
			r, err = g.releaseBatch(ctx, tx, stream, fn, limit)
			if err != nil && tx.Joined() {
				r.again = 0 // what failed has written in the caller's transaction
			}
			return err
		})
		held, isHeld := errors.AsType[*StreamError](err)
		switch {
		case isHeld && r.again > 0:
			failed, limit = held, r.again
			continue
		case err != nil:
			return errtext.Wrap(err, "ordering: release stream %q", stream)
		}
		res.Released += r.applied
		if r.applied > 0 {
			res.Row = r.context
		}
		if failed != nil {
			return failed
		}
		if r.applied < limit {
			return nil
		}
	}
}

type released[S any] struct {
	context Context[S]
	applied int
	again   int // how many went well before the one that did not
}

func (g Guard[S]) releaseBatch(ctx context.Context, tx *onerow.Tx, stream string, fn Func[S], limit int) (r released[S], err error) {
	c, err := g.lock(ctx, tx, stream)
	if err != nil || c.Held == 0 {
		return r, err
	}
	messages, err := g.heldFrom(ctx, tx, stream, c, limit)
	if err != nil || len(messages) == 0 {
		return r, err
	}
	first := c.Last + 1
	for i, m := range messages {
		// Whatever kind of error it is: one of this database has InTx run the batch again, and one of
		// elsewhere, which may look the same, must not take back those before it.
		err := fn(ctx, tx, m, &c.State)
		if err == nil { // the next one gets the state as if this one's transaction had ended
			_, c.State, err = encodeState(stream, c.State)
		}
		if err != nil {
			r.again = i
			return r, &StreamError{errtext.Errorf("%w: message %d, which holds stream %q: %w", ErrHeld, m.Sequence, stream, err), stream, m.Sequence}
		}
		c.Last = m.Sequence
	}
	query := sqlDropHeld
	if g.Keep {
		query = sqlKeepHeld
	}
	n, err := onerow.Affected(ctx, tx, query, g.Consumer, stream, c.Epoch, first, c.Last)
	if err != nil {
		return r, fmt.Errorf("take messages out of the parked ones: %w", err)
	}
	c.Held -= n
	if err := g.write(ctx, tx, stream, &c); err != nil {
		return r, err
	}
	r.context, r.applied = c, len(messages)
	return r, nil
}

// heldFrom reads the parked messages behind the last one up to the next gap.
func (g Guard[S]) heldFrom(ctx context.Context, tx *onerow.Tx, stream string, c Context[S], limit int) ([]Message, error) {
	var messages []Message
	wanted := c.Last + 1
	args := []any{g.Consumer, stream, c.Epoch, c.Last, g.Consumer, stream, c.Epoch, wanted, limit}
	err := onerow.Query(ctx, tx, sqlHeldFrom, args, func(rows *sql.Rows) error {
		m := Message{Stream: stream, Epoch: c.Epoch}
		if err := rows.Scan(&m.Sequence, &m.Payload); err != nil {
			return err
		}
		if m.Sequence == wanted {
			messages = append(messages, m)
			wanted++
		}
		return nil
	})
	return messages, errtext.Wrap(err, "read parked messages")
}

// sqlSkip: by the primary key, and only from where the operator saw the stream. The
// number before the first parked message becomes the last one.
const sqlSkip = `UPDATE onerow_stream SET epoch = ?, last_seq = ?, updated_at = UTC_TIMESTAMP(6) WHERE consumer = ? AND stream = ? AND epoch = ? AND last_seq = ?`

// Skip gives up the missing numbers before the first parked message of a stream in Hold, and applies what is
// parked behind them. Where none is parked in its epoch, these are the first numbers of the next epoch (of
// the stream, before its first message), and the rest of the epoch before is given up too. last is the last
// sequence that the operator saw; when the stream has moved on since, nothing is given up, so that a repeated
// Skip gives up one gap only. It reports whether a gap was given up. A number that was given up and comes
// after all is refused, as a duplicate unless messages are kept.
func (g Guard[S]) Skip(ctx context.Context, db onerow.DB, stream string, last int64, fn Func[S]) (_ bool, err error) {
	ctx, span := trace.Start(ctx, "ordering.Skip", slog.String("onerow.stream", stream))
	defer span.End(&err)
	skipped := false
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		skipped = false
		c, err := g.lock(ctx, tx, stream)
		if err != nil || c.Last != last || c.Held == 0 {
			return err
		}
		var epoch, first int64
		err = onerow.QueryRow(ctx, tx, sqlFirstHeld, []any{g.Consumer, stream, c.Epoch, c.Last, c.Epoch}, &epoch, &first)
		if errors.Is(err, sql.ErrNoRows) || err == nil && epoch == c.Epoch && first == last+1 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("find the first parked message: %w", err)
		}
		n, err := onerow.Affected(ctx, tx, sqlSkip, epoch, first-1, g.Consumer, stream, c.Epoch, last)
		skipped = n == 1
		return err
	})
	if err != nil {
		return false, errtext.Wrap(err, "ordering: skip behind %d in stream %q", last, stream)
	}
	_, err = g.Release(ctx, db, stream, fn)
	return skipped, err
}
