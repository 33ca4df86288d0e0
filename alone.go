package onerow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// Alone runs statements that stand alone: on a pool each is committed by itself, in one session.
// They are run again as [InTx] runs a transaction again, and also when the answer to a write did not
// come: so fn must be such that it may run again when it already has, and find out that it has. Where no
// later run got as far as that, the error is [ErrOutcomeUnknown]. It is for the one statement of a verb to
// which BEGIN and COMMIT would be two round trips more.
//
// fn gets the session, on which nothing more is run after an error that ended it; in a transaction it gets
// that transaction, and runs once, but for [ErrMoved]. Statements of its own: none.
func Alone(ctx context.Context, db DB, fn func(ctx context.Context, db DB) error) error {
	switch h := db.(type) {
	case *Tx, committer:
		return follow(ctx, func() error { return fn(ctx, db) })
	case beginner:
		return pooled(ctx, db, "onerow.Alone", func(ctx context.Context) attempt { return aloneOnce(ctx, h, fn) })
	}
	return fmt.Errorf("%w: %T has neither Commit nor BeginTx", ErrNoTransaction, db)
}

// lone is a session for statements that stand alone. It can begin a transaction, as a *sql.Conn can.
type lone struct {
	tx *Tx // not embedded: what stands alone has no savepoints
	beginner
}

// ExecContext runs a statement, as [Tx.ExecContext] does.
func (l *lone) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return l.tx.ExecContext(ctx, query, args...)
}

// QueryContext runs a query, as [Tx.QueryContext] does.
func (l *lone) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return l.tx.QueryContext(ctx, query, args...)
}

func (l *lone) note(err error, query string, args ...any) error {
	return l.tx.note(err, query, args...)
}

// Raw lets a transaction that is begun on it throw the session away.
func (l *lone) Raw(f func(driverConn any) error) error {
	if conn, ok := l.beginner.(rawer); ok {
		return conn.Raw(f)
	}
	return errors.ErrUnsupported
}

// aloneOnce runs fn on one session.
func aloneOnce(ctx context.Context, db beginner, fn func(context.Context, DB) error) (a attempt) {
	s, err := open(ctx, db)
	if err != nil {
		return attempt{err: fmt.Errorf("onerow: connect: %w", err), again: Retryable(err)}
	}
	defer s.close()
	handle, _ := s.db.(DB) // both *sql.Conn and what is given as a DB are one
	g := &lone{&Tx{db: handle, alone: true}, s.db}
	if err = fn(ctx, g); err == nil {
		return attempt{}
	}
	if mysqlerr.Classify(err) == mysqlerr.NotHere {
		s.discard()
	}
	a = g.tx.failed(ctx, s, err)
	if g.tx.unanswered && !a.settled && !errors.Is(err, ErrOutcomeUnknown) {
		a.err, a.unanswered = &OutcomeUnknownError{Err: err}, true
	}
	return a
}
