package packet

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/wire"
)

// ExecAll runs statements in their order up to the first that fails, whose error it returns. On a pool of
// pool.Open they travel together, one round trip for all; else each by itself. LAST_INSERT_ID() in one of
// them is what the one before has set. It is for statements that answer with a number of rows, not with rows.
func ExecAll(ctx context.Context, tx *onerow.Tx, stmts ...onerow.Stmt) error {
	return execAll(ctx, tx, false, stmts)
}

// ExecLast is ExecAll for the statements with which the function ends. In a transaction of InTx's own on a
// pool of pool.Open they travel with COMMIT, and with BEGIN if nothing was sent before: Rows and ID are set,
// and an error known, when InTx has returned ([wire.ErrLast]). If the function goes on with other statements
// after all, they are run before those.
func ExecLast(ctx context.Context, tx *onerow.Tx, stmts ...onerow.Stmt) error {
	return execAll(ctx, tx, !tx.Joined(), stmts)
}

// QueryAfter runs statements as ExecAll does, and a query behind them: one round trip for all on a pool of
// pool.Open, where none of them has Rows or an ID. scan is called for each row of the query. The error may be
// that of any of them.
func QueryAfter(ctx context.Context, tx *onerow.Tx, stmts []onerow.Stmt, query string, args []any, scan func(*sql.Rows) error) error {
	b := &wire.Batch{Stmts: stmts, Query: query}
	asks := slices.ContainsFunc(stmts, func(s onerow.Stmt) bool { return s.ID != nil || s.Rows != nil })
	if len(stmts) > 0 && tx.Together() && !asks {
		text, all := b.Text(true)
		err := onerow.Query(wire.WithBatch(ctx, b), tx, text+"; "+query, append(all, args...), scan)
		if !errors.Is(err, wire.ErrApart) { // then nothing was sent
			return err
		}
	}
	if err := ExecAll(ctx, tx, stmts...); err != nil {
		return err
	}
	return onerow.Query(ctx, tx, query, args, scan)
}

// QueryLast is onerow.Query for the end of a function: in a transaction of InTx's own on a pool of pool.Open
// in which nothing was written a query of the toolkit's own (wire.OwnQueries) travels with COMMIT. A query of
// the caller's does not: a view or a function in it may write, and its function may still fail. Statements
// that follow it after all are in another transaction.
func QueryLast(ctx context.Context, tx *onerow.Tx, query string, args []any, scan func(*sql.Rows) error) error {
	if tx.Together() && !tx.Joined() && wire.AreOwn(ctx) {
		b := &wire.Batch{Query: query, Last: true}
		if err := onerow.Query(wire.WithBatch(ctx, b), tx, query, args, scan); !errors.Is(err, wire.ErrApart) {
			return err
		}
	}
	return onerow.Query(ctx, tx, query, args, scan)
}

// KeepUnknown is err, with which statements one by one ended that were to find out why the same statements
// with COMMIT ended with first. A duplicate there may have been what an attempt before it had committed: so
// an error that is no answer becomes onerow.ErrOutcomeUnknown.
func KeepUnknown(ctx context.Context, first, err error) error {
	_, behind := errors.AsType[*wire.SettledError](first)
	if !behind || err == nil || errors.Is(err, onerow.ErrOutcomeUnknown) || ctx.Err() == nil && mysqlerr.Answers(err) {
		return err
	}
	return &onerow.OutcomeUnknownError{Err: err}
}

func execAll(ctx context.Context, tx *onerow.Tx, last bool, stmts []onerow.Stmt) error {
	if tx.Together() && len(stmts) > 0 && (last || len(stmts) > 1) {
		b := &wire.Batch{Stmts: stmts, Last: last}
		text, args := b.Text(false)
		_, err := tx.ExecContext(wire.WithBatch(ctx, b), text, args...)
		if !errors.Is(err, wire.ErrApart) { // then nothing was sent
			return err
		}
	}
	for _, s := range stmts {
		if err := exec(ctx, tx, s); err != nil {
			return err
		}
	}
	return nil
}

// exec sends one by itself.
func exec(ctx context.Context, tx *onerow.Tx, s onerow.Stmt) error {
	res, err := tx.ExecContext(ctx, s.Query, s.Args...)
	if err != nil {
		return err //nolint:wrapcheck // as the statement's
	}
	n, nerr := res.RowsAffected()
	id, iderr := res.LastInsertId()
	if err := errors.Join(nerr, iderr); err != nil {
		return fmt.Errorf("onerow: the result of a statement: %w", err)
	}
	return s.Take(n, id)
}
