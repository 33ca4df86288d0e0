package onerow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/plain"
)

// poison is the first error that ended the transaction.
type poison struct {
	err   error
	large *TooLargeError // the statement that it was met at, if it was large
}

// ExecContext runs a statement, unless the transaction is poisoned. What would end the transaction is not run
// ([ErrEndsTx]), nor what finds the rows of a query open ([ErrRowsOpen]).
func (tx *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	kind, err := tx.ready(ctx, query)
	if err != nil {
		return nil, err
	}
	res, err := tx.db.ExecContext(ctx, query, args...)
	if mysqlerr.Classify(err) == mysqlerr.ConnectionLost || mysqlerr.IsContext(err) {
		tx.unanswered = true
	}
	tx.count(kind, res, err)
	return res, tx.note(err, query, args...)
}

// QueryContext runs a query, unless the transaction is poisoned, as ExecContext runs a statement. What
// Rows.Err reports must be returned from the function that was given the transaction.
func (tx *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	kind, err := tx.ready(ctx, query)
	if err != nil {
		return nil, err
	}
	//nolint:rowserrcheck,sqlclosecheck // the caller's rows
	rows, err := tx.db.QueryContext(ctx, query, args...)
	tx.rows = rows
	tx.count(kind, nil, err)
	return rows, tx.note(err, query, args...)
}

// ready reads a statement, and says why it may not be sent, or nil.
func (tx *Tx) ready(ctx context.Context, query string) (kind plain.Kind, err error) {
	if err := tx.poisoned(); err != nil && !tx.mayUndo(query) {
		return kind, err
	}
	if err := ctx.Err(); err != nil {
		return kind, err //nolint:wrapcheck // as database/sql says it
	}
	kind = tx.kind(query)
	return kind, tx.admit(ctx, kind)
}

// count notes whether a statement may have written; res is nil for a query. A write that changed no row is
// none. What a trigger does besides is not seen.
func (tx *Tx) count(kind plain.Kind, res sql.Result, err error) {
	switch kind {
	case plain.Read, plain.Savepoint, plain.Undo:
		return
	case plain.Write:
		if err != nil {
			return
		}
		if res != nil {
			if n, unknown := res.RowsAffected(); n == 0 && unknown == nil {
				return
			}
		}
	}
	tx.writes++
}

func (tx *Tx) poisoned() error {
	if first := tx.poison.Load(); first != nil {
		return fmt.Errorf("%w, this statement was not run; return the first error and run the whole transaction again: %w", ErrTxPoisoned, first.err)
	}
	return nil
}

// mayUndo: after a lock wait timeout the transaction may be there or not. To go back to a savepoint
// does no harm where it is not, and takes back what else its owner might commit where it is.
func (tx *Tx) mayUndo(query string) bool {
	return mysqlerr.Classify(tx.poison.Load().err) == mysqlerr.TimedOut && plain.Of(query) == plain.Undo
}

// note poisons the transaction when err says that the server no longer has it, or may not have. A context
// that ended under a statement is one: the driver has closed the session. A statement that was interrupted
// leaves a part, which whoever drops the error would commit.
func (tx *Tx) note(err error, query string, args ...any) error {
	if mysqlerr.EndsTransaction(err) || mysqlerr.Classify(err) == mysqlerr.Interrupted || mysqlerr.IsContext(err) {
		tx.poison.CompareAndSwap(nil, &poison{err: err, large: large(err, query, args)})
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
		return tx.note(err, "")
	}
	return err
}
