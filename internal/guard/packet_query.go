package guard

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"

	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/internal/wire"
)

// queryBatch sends a batch with a query after it, and BEGIN before it if that waits. The rows that it
// returns are the query's.
func (c *session) queryBatch(ctx context.Context, b *wire.Batch, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.packets == hosts.OnePacketEach || !c.travels(b, len(args)) {
		return nil, wire.ErrApart
	}
	if err := c.forBatch(ctx); err != nil {
		return nil, err
	}
	wire.Sent(ctx, b.Count(true)+1)
	head, tail := "", ""
	if c.pending {
		head = sqlBegin + "; "
	}
	ends := b.Last && c.writes == 1 // of forBatch
	if ends {
		tail = "; " + sqlCommit
	}
	rows, err := c.inner.QueryContext(ctx, head+query+tail, args)
	if err == driver.ErrSkip { //nolint:errorlint // database/sql compares in this way
		return nil, wire.ErrApart
	}
	c.pending = false
	if err == nil {
		err = pass(b, rows)
	}
	if err != nil {
		return nil, c.note(notOne(err))
	}
	if ends { // as at its begin, but that nobody writes COMMIT any more
		c.pending = true
		c.forget()
	}
	return lastRows{c.rows(rows).(*watchedRows), ends}, nil //nolint:forcetypeassert // a transaction is open
}

// lastRows are those of the last query of a packet. Behind them comes the answer to COMMIT, if the
// transaction ends with it, and nothing else: with any other answer the transaction may be open, or half of
// it elsewhere, and the session ends.
type lastRows struct {
	*watchedRows
	ends bool
}

// Next reads a row, and at the end what follows them.
func (r lastRows) Next(dest []driver.Value) error {
	err := r.watchedRows.Next(dest)
	switch {
	case err == nil:
	case err != io.EOF: //nolint:errorlint // database/sql compares in this way
		if r.ends {
			r.conn.kill()
		}
	case r.HasNextResultSet() != r.ends:
		return r.conn.unproven(errAnswers)
	case r.ends:
		if err := r.NextResultSet(); err != io.EOF { //nolint:errorlint // as drivers return it
			r.conn.kill()
			if err == nil {
				err = errAnswers
			}
			return err
		}
	}
	return err
}

// Close reads what was not read: the answer to COMMIT, too.
func (r lastRows) Close() error {
	err := r.watchedRows.Close()
	if err != nil && r.ends {
		r.conn.kill()
	}
	return err
}

var errAnswers = errors.New("onerow: the answers to a packet are not those of its statements")

// pass reads the proofs that stand before the rows of the query. An error of a statement is met here, too.
func pass(b *wire.Batch, rows driver.Rows) (err error) {
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
	for i := range b.Stmts {
		if !b.Proves(i, true) {
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
