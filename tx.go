package onerow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/onerow/onerow/internal/mysqlerr"
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

// Tx is a transaction that a function was given by [InTx]. It is a [DB], so
// verbs can be called on it. It must not be used after the function returned.
// Like *sql.Tx it is for one goroutine at a time.
type Tx struct {
	db     DB
	joined bool
	poison atomic.Pointer[error]
}

// Joined says whether the transaction belongs to the caller of the verb: then it
// is neither committed nor run again here.
func (tx *Tx) Joined() bool { return tx.joined }

// ExecContext runs a statement, unless the transaction is poisoned.
func (tx *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := tx.poisoned(); err != nil {
		return nil, err
	}
	res, err := tx.db.ExecContext(ctx, query, args...)
	return res, tx.note(err)
}

// QueryContext runs a query, unless the transaction is poisoned. What Rows.Err
// reports must be returned from the function that was given to InTx.
func (tx *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := tx.poisoned(); err != nil {
		return nil, err
	}
	//nolint:rowserrcheck,sqlclosecheck // the caller's rows
	rows, err := tx.db.QueryContext(ctx, query, args...)
	return rows, tx.note(err)
}

func (tx *Tx) poisoned() error {
	if first := tx.poison.Load(); first != nil {
		return fmt.Errorf("%w, this statement was not run; return the first error and run the whole transaction again: %w", ErrTxPoisoned, *first)
	}
	return nil
}

// note poisons the transaction when err says that the server no longer has it.
func (tx *Tx) note(err error) error {
	switch mysqlerr.Classify(err) {
	case mysqlerr.RolledBack, mysqlerr.ConnectionLost, mysqlerr.NotSent:
		tx.poison.CompareAndSwap(nil, &err)
	}
	return err
}

// InTx runs fn in a transaction. On a pool it begins one, commits it when fn
// returns nil and rolls it back otherwise; a refused transaction is run again as
// the package documentation says, so fn may run more than once and must keep its
// effects inside the transaction. On a transaction it runs fn once, as a part of
// it. Statements of its own: BEGIN and COMMIT on a pool, none on a transaction.
//
// An error of fn comes back as it is, perhaps wrapped; fn is run again only after
// an error of this database, never after one of a file or of a call to elsewhere. A
// COMMIT without an answer is [ErrOutcomeUnknown].
func InTx(ctx context.Context, db DB, fn func(ctx context.Context, tx *Tx) error) error {
	return inTx(ctx, db, fn, false)
}

// InTokenTx is InTx for a function whose first statement inserts, under a unique
// key, a token that was made for this call and nobody else has. Therefore it is
// also run again when the outcome of COMMIT is unknown: the insert then waits
// until the lost attempt has ended, and a duplicate means "that was me".
func InTokenTx(ctx context.Context, db DB, fn func(ctx context.Context, tx *Tx) error) error {
	return inTx(ctx, db, fn, true)
}

func inTx(ctx context.Context, db DB, fn func(context.Context, *Tx) error, token bool) error {
	switch h := db.(type) {
	case *Tx:
		if err := h.poisoned(); err != nil {
			return err
		}
		if h.joined {
			return h.noteResult(fn(ctx, h))
		}
		inner := &Tx{db: h, joined: true}
		return h.noteResult(fn(ctx, inner))
	case committer:
		tx := &Tx{db: db, joined: true}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return tx.poisoned() // its owner would commit, and nothing is there any more
	case beginner:
		var unknown error // of an attempt whose COMMIT was not answered
		err := retry(ctx, func() (again bool, err error) {
			again, err = once(ctx, h, fn, token)
			if errors.Is(err, ErrOutcomeUnknown) {
				unknown = err
			}
			return again, err
		})
		return stillUnknown(ctx, unknown, err)
	}
	return fmt.Errorf("%w: %T has neither Commit nor BeginTx", ErrNoTransaction, db)
}

// stillUnknown: only an attempt that got past the token's insert has settled what an
// earlier one left unknown. One that did not reach the server, was refused to the last, or
// ended with its context has not.
func stillUnknown(ctx context.Context, unknown, err error) error {
	switch {
	case err == nil, unknown == nil, errors.Is(err, ErrOutcomeUnknown):
		return err
	case ctx.Err() != nil, Retryable(err), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &OutcomeUnknownError{Err: fmt.Errorf("%w (and then: %w)", unknown, err)}
	}
	return err
}

// noteResult notes what only the rows of a query said. A network error that no
// statement of the transaction met is one of a call to elsewhere.
func (tx *Tx) noteResult(err error) error {
	switch {
	case err == nil:
		return tx.poisoned()
	case !errors.Is(err, ErrTxPoisoned) && mysqlerr.FromDriver(err):
		return tx.note(err)
	}
	return err
}

// once runs fn in one transaction of its own. again says whether that may be
// repeated.
func once(ctx context.Context, db beginner, fn func(context.Context, *Tx) error, token bool) (again bool, err error) {
	sqlTx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return Retryable(err), fmt.Errorf("onerow: begin: %w", err)
	}
	open := true
	defer func() {
		if !open {
			return
		}
		// A session whose ROLLBACK fails is gone, and its transaction with it.
		if rerr := sqlTx.Rollback(); rerr != nil && err != nil && !gone(rerr) {
			err = fmt.Errorf("%w (and ROLLBACK failed: %w)", err, rerr)
		}
	}()
	tx := &Tx{db: sqlTx}
	if err := fn(ctx, tx); err != nil {
		ours := tx.poison.Load() != nil || mysqlerr.FromDriver(err)
		return ours && Retryable(err), err
	}
	if err := tx.poisoned(); err != nil {
		return Retryable(err), err
	}
	open = false
	err = commit(ctx, sqlTx)
	return Retryable(err) || token && errors.Is(err, ErrOutcomeUnknown), err
}

// gone: the driver closes a session whose context ended, and says so at ROLLBACK.
func gone(err error) bool {
	return errors.Is(err, sql.ErrTxDone) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		mysqlerr.MayRunAgain(err)
}

func commit(ctx context.Context, tx *sql.Tx) error {
	err := tx.Commit()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrTxDone), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		// database/sql saw the context end first and rolled back; COMMIT was not sent.
		return fmt.Errorf("onerow: rolled back before commit: %w", context.Cause(ctx))
	case mysqlerr.RefusedCommit(err):
		return fmt.Errorf("onerow: commit: %w", err)
	}
	return &OutcomeUnknownError{Err: err}
}
