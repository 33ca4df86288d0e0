package ordering

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
)

// sqlRead: by the primary key; locks nothing.
const sqlRead = `SELECT epoch, last_seq, held, state FROM onerow_stream WHERE consumer = ? AND stream = ?`

// Read returns the context of a stream. A stream without a message is [onerow.ErrNotFound]. One statement.
func (g Guard[S]) Read(ctx context.Context, db onerow.DB, stream string) (Context[S], error) {
	if err := g.check(); err != nil {
		return Context[S]{}, err
	}
	c, err := g.read(ctx, db, sqlRead, stream)
	if errors.Is(err, sql.ErrNoRows) {
		err = onerow.ErrNotFound
	}
	if err != nil {
		return Context[S]{}, errtext.Wrap(err, "ordering: stream %q of consumer %q", stream, g.Consumer)
	}
	return c, nil
}

// HeldStream is a stream that waits for a message.
type HeldStream struct {
	Stream string `json:"stream"`
	Epoch  int64  `json:"epoch"`
	// Last is the last sequence that was applied; it waits for the next.
	Last int64 `json:"last"`
	// Held is how many messages are parked, Idle for how long nothing has happened.
	Held int64         `json:"held"`
	Idle time.Duration `json:"idle"`
}

// sqlWaiting reads the index held; locks nothing.
const sqlWaiting = `SELECT stream, epoch, last_seq, held, TIMESTAMPDIFF(MICROSECOND, updated_at, UTC_TIMESTAMP(6))
 FROM onerow_stream FORCE INDEX (held) WHERE consumer = ? AND held > 0 ORDER BY held DESC LIMIT ?`

// Waiting returns up to limit streams with parked messages, those with the most
// first: what to alert on. One statement.
func (g Guard[S]) Waiting(ctx context.Context, db onerow.DB, limit int) ([]HeldStream, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	var all []HeldStream
	err := onerow.Query(ctx, db, sqlWaiting, []any{g.Consumer, limit}, func(rows *sql.Rows) error {
		var s HeldStream
		var idle int64
		err := rows.Scan(&s.Stream, &s.Epoch, &s.Last, &s.Held, &idle)
		s.Idle = time.Duration(idle) * time.Microsecond
		all = append(all, s)
		return err
	})
	return all, errtext.Wrap(err, "ordering: waiting streams of consumer %q", g.Consumer)
}
