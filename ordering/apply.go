package ordering

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/trace"
)

// sqlLock makes the context row or locks it, exclusively and by the primary key, until the transaction ends:
// applications of one stream take turns here. A row that is there stays as it is. (A SELECT … FOR UPDATE of a
// row that is not there would lock a gap, and two of them deadlock.)
const sqlLock = `INSERT INTO onerow_stream (consumer, stream, epoch, last_seq, updated_at) VALUES (?, ?, ?, ?, UTC_TIMESTAMP(6))
 ON DUPLICATE KEY UPDATE last_seq = last_seq`

// sqlReadLocked: a current read of the row that sqlLock has locked; a plain one could be older
// than the lock at REPEATABLE READ.
const sqlReadLocked = `SELECT epoch, last_seq, held, state FROM onerow_stream WHERE consumer = ? AND stream = ? FOR UPDATE`

// sqlWrite is the last statement of an application: by the primary key, on the locked row.
const sqlWrite = `UPDATE onerow_stream SET epoch = ?, last_seq = ?, held = ?, state = ?, updated_at = UTC_TIMESTAMP(6)
 WHERE consumer = ? AND stream = ?`

// Apply applies a message if it is newer than what the stream has seen: it calls fn with the state, then
// writes the context, all in one transaction. Otherwise the message is refused, or, with Hold, parked; see
// Outcome. With Hold it also applies the parked messages whose gap is closed.
//
// On a pool the message has a transaction of its own, run again when the server refuses it; parked messages
// that follow have another, so that one that cannot be applied (ErrHeld) does not undo the others. When the
// answer to COMMIT is lost the error is [onerow.ErrOutcomeUnknown]: call again, with the same message.
//
// On a transaction everything is part of that, and an error, whichever, means that it must be rolled back,
// but for ErrInvalidArgument and ErrTooManyHeld.
//
// Errors besides those of fn: [ErrInvalidArgument], [ErrTooManyHeld], [ErrHeld], [ErrState]. With ErrHeld the
// Result is filled: the message itself is dealt with.
func (g Guard[S]) Apply(ctx context.Context, db onerow.DB, m Message, fn Func[S]) (_ Result[S], err error) {
	ctx, span := trace.Start(ctx, "ordering.Apply", slog.String("onerow.stream", m.Stream))
	defer span.End(&err)
	var res Result[S]
	if err := errors.Join(g.check(), g.checkMessage(m)); err != nil {
		return res, err
	}
	joined := false
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		joined = tx.Joined()
		if res, err = g.apply(ctx, tx, m, fn); err != nil || !joined || res.Row.Held == 0 || res.Outcome == Held {
			return err
		}
		return g.release(ctx, tx, m.Stream, fn, &res)
	})
	if err != nil {
		return Result[S]{}, errtext.Wrap(err, "ordering: message %d of stream %q", m.Sequence, m.Stream)
	}
	// Refused messages too: the call that closed the gap may have died in between.
	if joined || res.Row.Held == 0 || res.Outcome == Held {
		return res, nil
	}
	return res, g.release(ctx, db, m.Stream, fn, &res)
}

func (g Guard[S]) apply(ctx context.Context, tx *onerow.Tx, m Message, fn Func[S]) (Result[S], error) {
	c, err := g.lock(ctx, tx, m.Stream)
	if err != nil {
		return Result[S]{}, err
	}
	res := Result[S]{Result: onerow.Result[Context[S]]{Row: c}}
	switch g.turn(c, m) {
	case before:
		res.Outcome, err = g.refusal(ctx, tx, c, m)
		return res, err
	case early:
		return g.park(ctx, tx, c, m)
	}
	if err := g.record(ctx, tx, &c, m); err != nil {
		return res, err
	}
	if err := fn(ctx, tx, m, &c.State); err != nil {
		return res, err
	}
	c.Epoch, c.Last = m.Epoch, m.Sequence
	if err := g.write(ctx, tx, m.Stream, &c); err != nil {
		return res, err
	}
	res.Row, res.Changed, res.Outcome = c, true, Applied
	return res, nil
}

type turn int

const (
	before turn = iota // not newer
	next               // to be applied
	early              // to be parked
)

func (g Guard[S]) turn(c Context[S], m Message) turn {
	wanted := c.Last + 1
	switch {
	case m.Epoch < c.Epoch || m.Epoch == c.Epoch && m.Sequence <= c.Last:
		return before
	case !g.Hold:
		return next
	case m.Epoch > c.Epoch:
		wanted = g.First
	}
	switch {
	case m.Sequence < wanted:
		return before // below the first number of its epoch
	case m.Sequence > wanted:
		return early
	}
	return next
}

// start is what a stream is before its first message: any epoch is newer.
func (g Guard[S]) start() (epoch, last int64) {
	if g.Hold {
		return math.MinInt64, g.First - 1
	}
	return math.MinInt64, math.MinInt64
}

// lock takes the stream's turn and reads its context.
func (g Guard[S]) lock(ctx context.Context, tx *onerow.Tx, stream string) (c Context[S], err error) {
	if err := g.check(); err != nil {
		return c, err
	}
	epoch, last := g.start()
	if _, err := tx.ExecContext(ctx, sqlLock, g.Consumer, stream, epoch, last); err != nil {
		return c, fmt.Errorf("lock the context: %w", err)
	}
	return g.read(ctx, tx, sqlReadLocked, stream)
}

func (g Guard[S]) read(ctx context.Context, db onerow.DB, query, stream string) (c Context[S], err error) {
	var raw []byte
	if err := onerow.QueryRow(ctx, db, query, []any{g.Consumer, stream}, &c.Epoch, &c.Last, &c.Held, &raw); err != nil {
		return c, fmt.Errorf("read the context: %w", err)
	}
	return c, decodeState(stream, raw, &c.State)
}

func (g Guard[S]) write(ctx context.Context, tx *onerow.Tx, stream string, c *Context[S]) error {
	raw, next, err := encodeState(stream, c.State)
	if err != nil {
		return err
	}
	c.State = next
	if err := onerow.AffectOne(ctx, tx, sqlWrite, c.Epoch, c.Last, c.Held, raw, g.Consumer, stream); err != nil {
		return fmt.Errorf("write the context: %w", err)
	}
	return nil
}
