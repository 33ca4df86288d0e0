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
	head := ""
	if c.pending {
		head = sqlBegin + "; "
	}
	rows, err := c.inner.(driver.QueryerContext).QueryContext(ctx, head+b.query, args) //nolint:forcetypeassert // as in send
	if err == driver.ErrSkip {                                                         //nolint:errorlint // database/sql compares in this way
		return nil, errNotInterpolated
	}
	c.pending = false
	if err == nil {
		err = b.pass(rows)
	}
	if err != nil {
		return nil, c.note(notOne(err))
	}
	return c.rows(rows), nil
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
