package ordering

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// sqlSeen: the primary key, plain read; a row that is seen was committed, and a row that an old snapshot
// does not show makes a duplicate look late, which is dropped as well.
const sqlSeen = `SELECT 1 FROM onerow_stream_message WHERE consumer = ? AND stream = ? AND epoch = ? AND seq = ? AND applied = 1`

// refusal tells a duplicate from a late message, as far as is known.
func (g Guard[S]) refusal(ctx context.Context, tx *onerow.Tx, c Context[S], m Message) (Outcome, error) {
	if !g.Keep {
		if g.Hold && m.Epoch == c.Epoch && m.Sequence >= g.First {
			return Duplicate, nil // all up to Last were applied
		}
		return Stale, nil
	}
	var one int
	err := onerow.QueryRow(ctx, tx, sqlSeen, []any{g.Consumer, m.Stream, m.Epoch, m.Sequence}, &one)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Late, nil
	case err != nil:
		return "", fmt.Errorf("look for the message: %w", err)
	}
	return Duplicate, nil
}

// All by the primary key, under the lock of the stream's context row. Ranges say FORCE INDEX: the other index
// begins with the parked messages of all streams, and a server that takes it locks those.
const (
	sqlPark = `INSERT INTO onerow_stream_message (consumer, stream, epoch, seq, applied, payload, received_at)
 VALUES (?, ?, ?, ?, 0, ?, UTC_TIMESTAMP(6))`
	sqlCountHeld = `UPDATE onerow_stream SET held = held + 1, updated_at = UTC_TIMESTAMP(6) WHERE consumer = ? AND stream = ?`
	// 1 affected row: new. 2: it had been parked; applied changes, so clientFoundRows does not matter.
	sqlKeep = `INSERT INTO onerow_stream_message (consumer, stream, epoch, seq, applied, payload, received_at)
 VALUES (?, ?, ?, ?, 1, ?, UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE applied = 1`
	sqlUnpark = `DELETE m FROM onerow_stream_message AS m WHERE consumer = ? AND stream = ? AND epoch = ? AND seq = ? AND applied = 0`
	// A new epoch: what is parked behind the last message and before that epoch never gets its turn. At most
	// MaxHeld rows; what is kept lies before them.
	sqlDropEpochs = `DELETE m FROM onerow_stream_message AS m FORCE INDEX (PRIMARY) WHERE consumer = ? AND stream = ?
 AND (epoch = ? AND seq > ? OR epoch > ? AND epoch < ?) AND applied = 0`
)

// park keeps an early message. The unique key makes a redelivery find it.
func (g Guard[S]) park(ctx context.Context, tx *onerow.Tx, c Context[S], m Message) (Result[S], error) {
	res := Result[S]{Result: onerow.Result[Context[S]]{Row: c}, Outcome: Held}
	if c.Held >= cmp.Or(max(g.MaxHeld, 0), maxHeld) {
		err := fmt.Errorf("%w: %d of stream %q, which waits for %d; redeliver that one, or give it up with Skip", ErrTooManyHeld, c.Held, m.Stream, c.Last+1)
		return res, &StreamError{err, m.Stream, c.Last + 1}
	}
	_, err := tx.ExecContext(ctx, sqlPark, g.Consumer, m.Stream, m.Epoch, m.Sequence, m.Payload)
	switch {
	case mysqlerr.Classify(err) == mysqlerr.Duplicate:
		res.Replayed = true
		return res, nil
	case err != nil:
		return res, fmt.Errorf("park the message: %w", err)
	}
	if err := onerow.AffectOne(ctx, tx, sqlCountHeld, g.Consumer, m.Stream); err != nil {
		return res, fmt.Errorf("count the parked message: %w", err)
	}
	res.Row.Held++
	res.Changed = true
	return res, nil
}

// record writes the message's row where messages are kept, and takes it out of the parked ones if it was one.
func (g Guard[S]) record(ctx context.Context, tx *onerow.Tx, c *Context[S], m Message) error {
	if c.Held > 0 && m.Epoch > c.Epoch {
		n, err := onerow.Affected(ctx, tx, sqlDropEpochs, g.Consumer, m.Stream, c.Epoch, c.Last, c.Epoch, m.Epoch)
		if err != nil {
			return fmt.Errorf("drop what older epochs parked: %w", err)
		}
		c.Held -= n
	}
	switch {
	case g.Keep:
		n, err := onerow.Affected(ctx, tx, sqlKeep, g.Consumer, m.Stream, m.Epoch, m.Sequence, m.Payload)
		if err != nil {
			return fmt.Errorf("keep the message: %w", err)
		}
		if n == 2 {
			c.Held--
		}
	case c.Held > 0:
		n, err := onerow.Affected(ctx, tx, sqlUnpark, g.Consumer, m.Stream, m.Epoch, m.Sequence)
		if err != nil {
			return fmt.Errorf("take the message out of the parked ones: %w", err)
		}
		c.Held -= n
	}
	return nil
}
