package onerow

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/wire"
)

// session is the connection on which an attempt runs. Where the handle is a pool it is taken out
// of it, so that it can be thrown away: a pool would hand it to the next one with what is open in it.
type session struct {
	db  beginner
	own *sql.Conn // to be given back; nil: it is the caller's
	raw rawer     // nil: it cannot be thrown away
	end func()    // releases what begin took; nil: nothing
}

// rawer is a *sql.Conn.
type rawer interface {
	Raw(f func(driverConn any) error) error
}

// open takes a session. No round trip of its own: a pool connects only where it has none to give.
func open(ctx context.Context, db beginner) (*session, error) {
	switch h := db.(type) {
	case interface {
		Conn(ctx context.Context) (*sql.Conn, error)
	}:
		conn, err := h.Conn(ctx)
		if err != nil {
			return nil, err
		}
		return &session{db: conn, own: conn, raw: conn}, nil
	case rawer: // *sql.Conn
		return &session{db: db, raw: h}, nil
	}
	return &session{db: db}, nil
}

// begin begins a transaction that does not end with ctx by itself: database/sql would then send a ROLLBACK
// that nothing bounds, and let the session's next use wait for it. BEGIN ends with ctx.
func (s *session) begin(ctx context.Context) (*sql.Tx, error) {
	if s.raw == nil {
		return s.db.BeginTx(ctx, nil)
	}
	alive, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.end = cancel
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	tx, err := s.db.BeginTx(wire.WithCall(alive, ctx), nil)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) { // alive has no deadline to tell of
		err = context.Cause(ctx)
	}
	return tx, err
}

// guarded says whether the session is, and takes several statements at once.
func (s *session) guarded() (watched, packets bool) {
	if s.raw == nil {
		return false, false
	}
	_ = s.raw.Raw(func(driverConn any) error { //nolint:errcheck // it says that the session is gone, and the next statement does, too
		c, ok := driverConn.(wire.Session)
		watched, packets = ok, ok && c.TakesPackets()
		return nil
	})
	return watched, packets
}

// discard closes the session; a pool opens a new one in its place.
func (s *session) discard() {
	if s.raw != nil {
		// The answer is the error that the function returns, or that the session is gone already.
		_ = s.raw.Raw(func(any) error { return driver.ErrBadConn }) //nolint:errcheck // as said
	}
}

// close gives the session back.
func (s *session) close() {
	if s.end != nil {
		s.end()
	}
	if s.own != nil {
		_ = s.own.Close() //nolint:errcheck // it was discarded, which is all that it can say
	}
}

// renewed says whether another attempt gets another session than this one, which err ended.
func (s *session) renewed(err error) bool {
	switch mysqlerr.Classify(err) {
	case mysqlerr.ConnectionLost, mysqlerr.NotSent, mysqlerr.NotHere:
		return s.own != nil || s.raw == nil
	}
	return true
}

// rollback ends a transaction that failed with err. A session of which it is not certain that nothing is open
// in it any more is discarded: one whose ROLLBACK failed, or was left to database/sql, which keeps the answer
// to itself; and one that leads to a server that does not write. When the context has ended, the session is
// cut: ROLLBACK could wait for an answer for as long as the network does.
func (s *session) rollback(ctx context.Context, tx *sql.Tx, err error) (noise error) {
	if ctx.Err() != nil && s.raw != nil {
		_ = s.raw.Raw(func(driverConn any) error { //nolint:errcheck // its only error is that the session is gone already
			if conn, ok := driverConn.(driver.Conn); ok {
				_ = conn.Close() //nolint:errcheck // what is open in it ends with it
			}
			return nil
		})
	}
	rerr := tx.Rollback()
	if rerr != nil || mysqlerr.Classify(err) == mysqlerr.NotHere {
		s.discard()
	}
	if errors.Is(rerr, sql.ErrTxDone) || mysqlerr.IsContext(rerr) || mysqlerr.MayRunAgain(rerr) {
		return nil // the driver closes a session whose context ended, and says so here
	}
	return rerr
}
