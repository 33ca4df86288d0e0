package onerow

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/own"
	"github.com/onerow/onerow/internal/sqltext"
)

// Stmt is a statement of [Tx.ExecAll], [Tx.ExecLast] and [Tx.QueryAfter].
type Stmt struct {
	Query string
	Args  []any
	// One says that it affects exactly one row. With another number nothing behind it is run, and the error
	// is [ErrNotOneRow].
	One bool
	// Rows, if not nil, is set to the number of rows that were affected.
	Rows *int64
	// ID, if not nil, is set to what LastInsertId says of its result: the id that was generated, or what
	// LAST_INSERT_ID(expression) was given.
	ID *int64
}

// ErrNotOneRow means: a statement that had to affect one row affected none, or several. It did what it did.
var ErrNotOneRow = errors.New("onerow: not exactly one row was affected")

// ErrLast marks the error of a statement that travelled with COMMIT, see [Tx.ExecLast]: nothing was
// committed.
var ErrLast = errors.New("onerow: a statement that travelled with COMMIT failed")

// Together says whether the statements of ExecAll travel together.
func (tx *Tx) Together() bool { return tx.packets }

// ExecAll runs statements in their order up to the first that fails, whose error it returns. On a pool of
// [Open] they travel together, one round trip for all; else each by itself. LAST_INSERT_ID() in one of them
// is what the one before has set. It is for statements that answer with a number of rows, not with rows.
func (tx *Tx) ExecAll(ctx context.Context, stmts ...Stmt) error { return tx.execAll(ctx, false, stmts) }

// ExecLast is ExecAll for the statements with which the function ends. In a transaction of [InTx]'s own on
// a pool of [Open] they travel with COMMIT, and with BEGIN if nothing was sent before: Rows and ID are set,
// and an error known, when InTx has returned ([ErrLast]). If the function goes on with other statements after
// all, they are run before those.
func (tx *Tx) ExecLast(ctx context.Context, stmts ...Stmt) error {
	return tx.execAll(ctx, !tx.joined, stmts)
}

// QueryAfter runs statements as ExecAll does, and a query behind them: one round trip for all on a pool of
// [Open], where none of them has Rows or an ID. scan is called for each row of the query. The error may be
// that of any of them.
func (tx *Tx) QueryAfter(ctx context.Context, stmts []Stmt, query string, args []any, scan func(*sql.Rows) error) error {
	b := &batch{stmts: stmts}
	if len(stmts) > 0 && tx.packets && b.fits() && !b.asks() && single(query, len(args)) {
		text, all := b.text(true)
		b.query = text + "; " + query
		err := Query(context.WithValue(ctx, batchKey{}, b), tx, b.query, append(all, args...), scan)
		if !errors.Is(err, errNotInterpolated) { // then nothing was sent
			return err
		}
	}
	if err := tx.ExecAll(ctx, stmts...); err != nil {
		return err
	}
	return Query(ctx, tx, query, args, scan)
}

// QueryLast is [Query] for the end of a function: in a transaction of [InTx]'s own on a pool of [Open] in
// which nothing was written a query of the toolkit's own travels with COMMIT. A query of the caller's does
// not: a view or a function in it may write, and its function may still fail. Statements that follow it after
// all are in another transaction.
func (tx *Tx) QueryLast(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	if tx.packets && !tx.joined && own.Is(ctx) && single(query, len(args)) {
		b := &batch{query: query, last: true}
		if err := Query(context.WithValue(ctx, batchKey{}, b), tx, query, args, scan); !errors.Is(err, errNotInterpolated) {
			return err
		}
	}
	return Query(ctx, tx, query, args, scan)
}

func (tx *Tx) execAll(ctx context.Context, last bool, stmts []Stmt) error {
	b := &batch{stmts: stmts, last: last}
	if len(stmts) == 0 || !tx.packets || !last && len(stmts) < 2 || !b.fits() {
		for _, s := range stmts {
			if err := s.exec(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	}
	text, args := b.text(false)
	_, err := tx.ExecContext(context.WithValue(ctx, batchKey{}, b), text, args...)
	return err
}

// exec sends one by itself.
func (s Stmt) exec(ctx context.Context, db DB) error {
	res, err := db.ExecContext(ctx, s.Query, s.Args...)
	if err != nil {
		return err //nolint:wrapcheck // as the statement's
	}
	n, nerr := res.RowsAffected()
	id, iderr := res.LastInsertId()
	if err := errors.Join(nerr, iderr); err != nil {
		return fmt.Errorf("onerow: the result of a statement: %w", err)
	}
	return s.take(n, id)
}

// take looks at a result.
func (s Stmt) take(affected, id int64) error {
	if s.Rows != nil {
		*s.Rows = affected
	}
	if s.ID != nil {
		*s.ID = id
	}
	if s.One && affected != 1 {
		return fmt.Errorf("%w: %d", ErrNotOneRow, affected)
	}
	return nil
}

// batch are statements that travel together. It reaches the session by the context of their execution,
// where no text can pretend to be one.
type batch struct {
	stmts []Stmt
	last  bool   // COMMIT may follow
	query string // of all of them, with the query behind them
}

type batchKey struct{}

// largest is what a statement of a batch may have in its arguments: an error about a packet that is too large
// belongs to one statement.
const largest = 4 << 10

// fits says whether the statements may travel together.
func (b *batch) fits() bool {
	size := 0
	for _, s := range b.stmts {
		if !single(s.Query, len(s.Args)) {
			return false
		}
		for _, arg := range s.Args {
			size += sizeOf(arg)
		}
	}
	return size <= largest
}

// single says whether a text is proved to be one statement, with as many placeholders as arguments, behind
// which another may stand: in whatever sql_mode the session is.
func single(query string, args int) bool {
	n, ok := sqltext.Single(query, anyMode())
	return ok && n == args
}

// sizeOf is the number of bytes of an argument that may have many.
func sizeOf(arg any) int {
	if valuer, ok := arg.(driver.Valuer); ok {
		v, err := driver.DefaultParameterConverter.ConvertValue(valuer)
		if err != nil {
			return 0 // the driver says so
		}
		arg = v
	}
	v := reflect.ValueOf(arg)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.String:
		return v.Len()
	}
	return 0
}

// asks says whether the results of executions are asked for, which those of queries are not.
func (b *batch) asks() bool {
	return slices.ContainsFunc(b.stmts, func(s Stmt) bool { return s.ID != nil || s.Rows != nil })
}

// sqlOne fails with error 1690 if the statement before has affected another number of rows than one. It
// reads no table.
const sqlOne = `SELECT 18446744073709551615 + (ROW_COUNT() <> 1)`

// text is all of the statements, with the proof that one row was affected where something follows.
func (b *batch) text(more bool) (string, []any) {
	var text strings.Builder
	var args []any
	for i, s := range b.stmts {
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(s.Query)
		if b.proves(i, more) {
			text.WriteString("; " + sqlOne)
		}
		args = append(args, s.Args...)
	}
	return text.String(), args
}

func (b *batch) proves(i int, more bool) bool {
	return b.stmts[i].One && (more || i < len(b.stmts)-1)
}

// count is how many statements they are, with the proofs.
func (b *batch) count(more bool) int {
	n := len(b.stmts)
	for i := range b.stmts {
		if b.proves(i, more) {
			n++
		}
	}
	return n
}

// take looks at the results, of which those at from and later are the batch's.
func (b *batch) take(affected, ids []int64, from int, more bool) error {
	for i, s := range b.stmts {
		if from >= len(affected) || from >= len(ids) {
			return fmt.Errorf("onerow: of %d statements in one packet the driver reports %d results", len(b.stmts), len(affected))
		}
		if err := s.take(affected[from], ids[from]); err != nil {
			return err
		}
		if from++; b.proves(i, more) {
			from++
		}
	}
	return nil
}
