package onerow

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"

	"github.com/onerow/onerow/internal/sent"
)

// queryBatch sends a batch with a query behind it, and BEGIN before it if that waits. The rows that it
// returns are the query's.
func (c *guardConn) queryBatch(ctx context.Context, b *batch, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.forBatch(ctx); err != nil {
		return nil, err
	}
	sent.Add(ctx, b.count(true)+1)
	head, tail := "", ""
	if c.pending {
		head = sqlBegin + "; "
	}
	ends := b.last && c.writes == 1 // of forBatch
	if ends {
		tail = "; " + sqlCommit
	}
	rows, err := c.inner.(driver.QueryerContext).QueryContext(ctx, head+b.query+tail, args) //nolint:forcetypeassert // as in send
	if err == driver.ErrSkip {                                                              //nolint:errorlint // database/sql compares in this way
		return nil, errNotInterpolated
	}
	c.pending = false
	if err == nil {
		err = b.pass(rows)
	}
	if err != nil {
		return nil, c.note(notOne(err))
	}
	if ends { // as at its begin, but that nobody writes COMMIT any more
		c.pending = true
		c.forget()
		return endRows{&guardRows{rows, c}}, nil
	}
	return c.rows(rows), nil
}

// endRows are those of a query behind which the transaction ends. Without the answer to COMMIT it may be open
// still: then the session ends.
type endRows struct{ *guardRows }

// Next reads a row.
func (r endRows) Next(dest []driver.Value) error {
	err := r.guardRows.Next(dest)
	if err != nil && err != io.EOF { //nolint:errorlint // database/sql compares in this way
		r.conn.kill()
	}
	return err
}

// Close reads the answer to COMMIT, too.
func (r endRows) Close() error {
	err := r.guardRows.Close()
	if err != nil {
		r.conn.kill()
	}
	return err
}

// errNotInterpolated: the driver cannot put the arguments in.
var errNotInterpolated = errors.New("onerow: statements that were to travel together were not sent")

// pass reads the proofs that stand before the rows of the query. An error of a statement is met here, too.
func (b *batch) pass(rows driver.Rows) (err error) {
	defer func() {
		if err != nil {
			_ = rows.Close() //nolint:errcheck // the first error is the one to tell
		}
	}()
	sets, ok := rows.(driver.RowsNextResultSet)
	if !ok {
		return errors.New("onerow: a driver whose rows end with the first result tells nothing of several statements")
	}
	one := make([]driver.Value, 1)
	for i := range b.stmts {
		if !b.proves(i, true) {
			continue
		}
		for err == nil {
			err = rows.Next(one)
		}
		if err != io.EOF { //nolint:errorlint // as drivers return it
			return err
		}
		if err = sets.NextResultSet(); err != nil {
			return err
		}
	}
	return nil
}
