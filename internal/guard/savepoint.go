package guard

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/wire"
)

// savepoint is one that a session in a group remembers instead of the server.
type savepoint struct {
	name   string // in lower case, as the server compares
	writes int    // of the transaction before it
}

// savepoint does what a statement about a savepoint asks for; done is false where it is to be sent as it is.
func (c *session) savepoint(ctx context.Context, r reading) (done bool, err error) {
	v, name := r.verb, r.Name
	if !c.open() || v != verbSavepoint && v != verbUndo && v != verbRelease {
		return false, nil
	}
	if v == verbSavepoint {
		return true, c.mark(ctx, name)
	}
	if c.group != wire.Yes {
		return false, nil
	}
	name = strings.ToLower(name)
	for i := len(c.savepoints) - 1; i >= 0; i-- {
		s := c.savepoints[i]
		switch {
		case s.name != name:
		case v == verbRelease:
			c.savepoints = c.savepoints[:i]
			return true, nil
		default:
			c.savepoints = c.savepoints[:i+1]
			return true, c.undo(s)
		}
	}
	return true, &mysql.MySQLError{Number: mysqlerr.NumberNoSavepoint, SQLState: [5]byte([]byte("42000")), Message: "SAVEPOINT " + name + " does not exist"}
}

// undo goes back to where nothing was written since; else the transaction cannot be committed any more.
func (c *session) undo(s savepoint) error {
	if c.writes == s.writes {
		return nil
	}
	c.lost = fmt.Errorf("%w: %w", wire.ErrNotUndone, wire.ErrGrouped)
	return c.lost
}

// mark sets a savepoint. The first of a session asks whether the server is in a group, on MariaDB with the
// savepoint itself.
func (c *session) mark(ctx context.Context, name string) error {
	if strings.Contains(name, "*/") {
		return fmt.Errorf("onerow: a savepoint cannot be called %s", name)
	}
	if c.group == wire.NotAsked {
		set, err := c.askGroup(ctx, name)
		if set || err != nil {
			return err
		}
	}
	if c.group == wire.Yes {
		c.savepoints = append(c.savepoints, savepoint{strings.ToLower(name), c.writes})
		return nil
	}
	return c.done(understood(verbSavepoint), c.text(ctx, "SAVEPOINT "+ident.Quote(name)))
}

// askGroup asks, and says whether the savepoint is set by that.
func (c *session) askGroup(ctx context.Context, name string) (set bool, err error) {
	rows, err := hosts.Rows(ctx, c.inner, wire.Mark(ident.Quote(name)))
	set = len(rows) == 0
	if err = c.note(err); mysqlerr.Number(err) != 0 && c.lost == nil && c.waited == nil { // the comments are not understood
		rows, err = hosts.Rows(ctx, c.inner, wire.SQLGroup)
		set, err = false, c.note(err)
	}
	if err != nil {
		return false, err
	}
	c.group = wire.No
	if len(rows) > 0 && rows[0][1] != "0" && rows[0][1] != "" {
		c.group = wire.Yes
	}
	return set, nil
}

// count notes whether a statement may have written.
func (c *session) count(r reading, result driver.Result, err error) {
	affected := int64(-1)
	if result != nil && err == nil {
		if n, err := result.RowsAffected(); err == nil {
			affected = n
		}
	}
	if c.open() && !errors.Is(err, driver.ErrSkip) && r.Wrote(affected, err) {
		c.writes++
	}
}

// forget is for the end of a transaction.
func (c *session) forget() { c.writes, c.savepoints = 0, nil }

// answerRows is what the session answers itself: a row of two texts, or none.
type answerRows struct{ row []string }

// Columns names them.
func (r *answerRows) Columns() []string { return make([]string, len(r.row)) }

// Close does nothing.
func (r *answerRows) Close() error { return nil }

// Next gives the row, once.
func (r *answerRows) Next(dest []driver.Value) error {
	if len(r.row) == 0 {
		return io.EOF
	}
	for i := range dest {
		dest[i] = r.row[i]
	}
	r.row = nil
	return nil
}
