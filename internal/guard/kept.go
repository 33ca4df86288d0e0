package guard

import (
	"context"
	"database/sql/driver"

	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/sqltext"
	"github.com/onerow/onerow/internal/wire"
)

// Server error numbers with which a kept statement is of no use any more.
const (
	erUnknownStmt  = 1243 // a proxy has given the session another connection
	erNeedReprep   = 1615 // its table changes all the time
	erTooManyStmts = 1461 // max_prepared_stmt_count
)

// queryKept executes a query that the session keeps prepared, which the first time is a round trip more. done
// is false where it is to be sent as a text: in a transaction, and where the server does not prepare it, or
// not any more.
func (c *session) queryKept(ctx context.Context, query string, args []driver.NamedValue) (rows driver.Rows, done bool, err error) {
	if c.open() {
		return nil, false, nil
	}
	stmt := c.kept[query]
	if stmt == nil {
		prepared, err := c.prepare(ctx, query)
		if mysqlerr.Number(err) == erTooManyStmts {
			return nil, false, nil
		}
		if err != nil {
			return nil, true, c.note(err)
		}
		if stmt = prepared; c.kept == nil {
			c.kept = map[string]driverStmt{}
		}
		c.kept[query] = stmt
	}
	wire.Sent(ctx, 1)
	rows, err = stmt.QueryContext(ctx, args)
	if n := mysqlerr.Number(err); n == erUnknownStmt || n == erNeedReprep {
		delete(c.kept, query)
		return nil, false, c.note(stmt.Close())
	}
	if err = c.done(sqltext.Statement{Kind: sqltext.Read}, nil, err); err != nil {
		return nil, true, err
	}
	return rows, true, nil
}
