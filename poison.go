package onerow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/sqltext"
	"github.com/onerow/onerow/internal/wire"
)

// guarded is a handle on which nothing more is run after an error that ended its transaction,
// or may have.
type guarded struct {
	db     DB
	poison atomic.Pointer[poison]
	// unanswered: a statement that writes was sent, and no answer has come.
	unanswered bool
	// writes are the statements that may have written; escaped: what is sent need not be seen here.
	writes  int
	escaped bool
}

// poison is the first error that ended the transaction.
type poison struct {
	err   error
	large *TooLargeError // the statement that it was met at, if it was large
}

// ExecContext runs a statement, unless the transaction is poisoned.
func (g *guarded) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := g.poisoned(); err != nil && !g.mayUndo(query) {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err //nolint:wrapcheck // as database/sql says it; nothing was sent
	}
	res, err := g.db.ExecContext(ctx, query, args...)
	g.unanswered = g.unanswered || unanswered(err)
	g.count(query, res, err)
	return res, g.note(err, query, args...)
}

// QueryContext runs a query, unless the transaction is poisoned. What Rows.Err
// reports must be returned from the function that was given the handle.
func (g *guarded) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := g.poisoned(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err //nolint:wrapcheck // see ExecContext
	}
	//nolint:rowserrcheck,sqlclosecheck // the caller's rows
	rows, err := g.db.QueryContext(ctx, query, args...)
	g.count(query, nil, err)
	return rows, g.note(err, query, args...)
}

// count notes whether a statement may have written.
func (g *guarded) count(query string, res sql.Result, err error) {
	affected := int64(-1)
	if res != nil && err == nil {
		if n, err := res.RowsAffected(); err == nil {
			affected = n
		}
	}
	if _, mark := wire.Marked(query); !mark && sqltext.Classify(query, sqltext.UTF8).Wrote(affected, err) {
		g.writes++
	}
}

func (g *guarded) poisoned() error {
	if first := g.poison.Load(); first != nil {
		return fmt.Errorf("%w, this statement was not run; return the first error and run the whole transaction again: %w", ErrTxPoisoned, first.err)
	}
	return nil
}

// mayUndo: after a lock wait timeout the transaction may be there or not. To go back to a savepoint
// does no harm where it is not, and takes back what else its owner might commit where it is.
func (g *guarded) mayUndo(query string) bool {
	const undo = "ROLLBACK TO "
	first := g.poison.Load()
	return mysqlerr.Classify(first.err) == mysqlerr.TimedOut && len(query) > len(undo) && strings.EqualFold(query[:len(undo)], undo)
}

// note poisons the transaction when err says that the server no longer has it, or may not have. A context
// that ended under a statement is one: the driver has closed the session. A statement that was interrupted
// leaves a part, which whoever drops the error would commit.
func (g *guarded) note(err error, query string, args ...any) error {
	if mysqlerr.EndsTransaction(err) || mysqlerr.Classify(err) == mysqlerr.Interrupted || mysqlerr.IsContext(err) {
		g.poison.CompareAndSwap(nil, &poison{err: err, large: large(err, query, args)})
	}
	return err
}

// noteResult notes what only the rows of a query said. A network error that no
// statement of the transaction met is one of a call to elsewhere.
func (g *guarded) noteResult(err error) error {
	switch {
	case err == nil:
		return g.poisoned()
	case !errors.Is(err, ErrTxPoisoned) && mysqlerr.FromDriver(err):
		return g.note(err, "")
	}
	return err
}

// unanswered says of the error of a statement that writes whether it may have been executed.
func unanswered(err error) bool {
	return mysqlerr.Classify(err) == mysqlerr.ConnectionLost || mysqlerr.IsContext(err)
}
