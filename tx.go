package onerow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/trace"
	"github.com/onerow/onerow/internal/wire"
)

// DB is what every verb takes: *sql.DB, *sql.Conn, *sqlx.DB, which begin a
// transaction for the verb; *sql.Tx, *sqlx.Tx and *Tx, which the verb joins.
type DB interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

type beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

type committer interface{ Commit() error }

// Tx is a transaction that a function was given by [InTx]. It is a [DB], so verbs can be called on it. It
// must not be used after the function returned. Like *sql.Tx it is for one goroutine at a time.
//
// After an error that says that the server has ended the transaction, or may have, it runs nothing more
// ([ErrTxPoisoned]): a refusal, a lock wait timeout, a lost connection. After a lock wait timeout it still
// lets ROLLBACK TO SAVEPOINT through.
type Tx struct {
	db      DB
	joined  bool
	alone   bool        // it is none: its statements are for Alone
	group   wire.Answer // the server is in a replication group, see Savepoint; of the outermost
	packets bool        // the session takes several statements at once
	watched bool        // the session is guarded: what is not understood it looks after itself

	poison     atomic.Pointer[poison]
	unsure     string    // a savepoint that was set before a statement that was not understood
	rows       *sql.Rows // of the last query
	unanswered bool      // a statement that writes was sent, and no answer has come
	writes     int       // statements that may have written
	escaped    bool      // what is sent need not be seen here
}

// Joined says whether the transaction belongs to the caller of the verb: then it
// is neither committed nor run again here.
func (tx *Tx) Joined() bool { return tx.joined }

// Together says whether the session takes several statements in one round trip, as those of pool.Open do but
// on a node of Galera: BEGIN travels with the first one then.
func (tx *Tx) Together() bool { return tx.packets }

// Err is nil, or [ErrTxPoisoned] with the error that ended the transaction. Nothing is sent.
func (tx *Tx) Err() error { return tx.poisoned() }

// InTx runs fn in a transaction. On a pool it begins one, commits it when fn returns nil and rolls it back
// otherwise; a refused transaction is run again as the package documentation says, so fn may run more than
// once and must keep its effects inside the transaction. On a transaction it runs fn once, as a part of it.
// Statements of its own: BEGIN and COMMIT on a pool, none on a transaction.
//
// An error of fn comes back as it is, perhaps wrapped; fn is run again only after an error of this database,
// never after one of a file or of a call to elsewhere. A COMMIT without an answer is [ErrOutcomeUnknown].
func InTx(ctx context.Context, db DB, fn func(ctx context.Context, tx *Tx) error) error {
	return inTx(ctx, db, fn, false)
}

// InIdempotentTx is InTx for a function that may run again after it has committed, so it does when the
// outcome of COMMIT is unknown. Either its first statement inserts, under a unique key, a token that was made
// for this call and nobody else has: the insert waits until the lost attempt has ended, and a duplicate means
// "that was me". Or what it writes is right however often it runs.
func InIdempotentTx(ctx context.Context, db DB, fn func(ctx context.Context, tx *Tx) error) error {
	return inTx(ctx, db, fn, true)
}

func inTx(ctx context.Context, db DB, fn func(context.Context, *Tx) error, token bool) error {
	switch h := db.(type) {
	case *Tx:
		if err := h.poisoned(); err != nil {
			return err
		}
		tx := h
		if !h.joined {
			tx = &Tx{db: h, joined: true, packets: h.packets}
		}
		return h.noteResult(follow(ctx, func() error { return fn(ctx, tx) }))
	case committer:
		tx := &Tx{db: db, joined: true}
		err := tx.same(ctx, follow(ctx, func() error { return fn(ctx, tx) }))
		first := tx.poison.Load()
		switch {
		case err == nil:
			return tx.poisoned() // its owner would commit, and nothing is there any more
		case first != nil && first.large != nil && errors.Is(err, first.err):
			return first.large.hint(err)
		}
		return err
	case beginner:
		return pooled(ctx, db, "onerow.InTx", func(ctx context.Context) attempt { return once(ctx, h, fn, token) })
	}
	return fmt.Errorf("%w: %T has neither Commit nor BeginTx", ErrNoTransaction, db)
}

// pooled runs attempts on a pool, in a span of that name. One that lost its session at a large statement is
// looked at before it is repeated.
func pooled(ctx context.Context, db DB, name string, try func(ctx context.Context) attempt) (err error) {
	traced, span := trace.Start(ctx, name, slog.Attr{}) // not ctx anew: a closure would keep it on the heap
	defer span.End(&err)
	losses, unknown := 0, false // unknown: another attempt than those may have been committed
	return retry(traced, span, func() attempt {
		a := try(traced)
		if a.large == nil {
			unknown = unknown || a.unanswered
			return a
		}
		losses++
		err := a.err
		var unanswered *OutcomeUnknownError
		if errors.As(err, &unanswered) { // not where the statement is one that the server never takes
			err = unanswered.Err
		}
		if e := a.large.ask(traced, db, err, losses > 1); e != nil {
			return attempt{err: e, settled: !unknown}
		}
		return a
	})
}

// once runs fn in one transaction of its own.
func once(ctx context.Context, db beginner, fn func(context.Context, *Tx) error, token bool) (a attempt) {
	s, err := open(ctx, db)
	if err != nil {
		return attempt{err: fmt.Errorf("onerow: begin: %w", err), again: Retryable(err)}
	}
	defer s.close()
	sqlTx, err := s.begin(ctx)
	if err != nil {
		s.discard()
		return attempt{err: fmt.Errorf("onerow: begin: %w", err), again: Retryable(err) && s.renewed(err)}
	}
	done := false
	defer func() {
		if done {
			return
		}
		if noise := s.rollback(ctx, sqlTx, a.err); noise != nil && a.err != nil {
			a.err = fmt.Errorf("%w (and ROLLBACK failed: %w)", a.err, noise)
		}
	}()
	tx := &Tx{db: sqlTx}
	tx.watched, tx.packets = s.guarded()
	if err := tx.same(ctx, fn(ctx, tx)); err != nil {
		return tx.failed(ctx, s, err)
	}
	if err := tx.poisoned(); err != nil {
		return tx.failed(ctx, s, err)
	}
	if ctx.Err() != nil {
		return attempt{err: fmt.Errorf("onerow: rolled back before commit: %w", context.Cause(ctx))}
	}
	done = true
	if err = commit(ctx, sqlTx); err == nil {
		return attempt{}
	}
	if errors.Is(err, wire.ErrLast) {
		return tx.failed(ctx, s, err)
	}
	s.discard() // a COMMIT that was refused leaves the transaction open
	unknown := errors.Is(err, ErrOutcomeUnknown)
	return attempt{err: err, again: (Retryable(err) || token && unknown) && s.renewed(err), unanswered: unknown, waited: waited(err)}
}

// failed is the attempt whose function returned err, or after whose poison it did not.
func (tx *Tx) failed(ctx context.Context, s *session, err error) attempt {
	a := attempt{err: err}
	first := tx.poison.Load()
	if ours := first != nil || mysqlerr.FromDriver(err); ours {
		a.again, a.waited = Retryable(err) && s.renewed(err), waited(err)
	}
	if first != nil {
		a.large = first.large
	}
	elsewhere := !mysqlerr.FromDriver(err) && mysqlerr.Classify(err) == mysqlerr.ConnectionLost // a call of the function's own
	a.again = a.again || first == nil && errors.Is(err, ErrMoved)
	a.settled = first == nil && ctx.Err() == nil && (elsewhere || mysqlerr.Answers(err))
	return a
}

func commit(ctx context.Context, tx *sql.Tx) error {
	err := tx.Commit()
	var unknown *OutcomeUnknownError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown): // of the guard, which knows that COMMIT was sent
		return err
	case errors.Is(err, wire.ErrLast):
		return err //nolint:wrapcheck // as if the function had returned it
	case errors.Is(err, sql.ErrTxDone) && ctx.Err() == nil: // by Tx.SQL
		return fmt.Errorf("onerow: the function that was given the transaction ended it itself; leave COMMIT and ROLLBACK to InTx: %w", err)
	case errors.Is(err, sql.ErrTxDone), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		// database/sql saw the context end first and rolled back; COMMIT was not sent.
		return fmt.Errorf("onerow: rolled back before commit: %w", context.Cause(ctx))
	case mysqlerr.RefusedCommit(err), errors.Is(err, ErrTxPoisoned), errors.Is(err, ErrTxEnded): // the guard did not send it
		return fmt.Errorf("onerow: commit: %w", err)
	}
	return &OutcomeUnknownError{Err: err}
}
