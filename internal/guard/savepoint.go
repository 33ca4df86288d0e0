package guard

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/sqltext"
	"github.com/onerow/onerow/internal/wire"
)

// savepoint is one that a session in a group remembers instead of the server.
type savepoint struct {
	name   string // in lower case, as the server compares
	writes int    // of the transaction before it
}

// savepoint does what a statement about a savepoint asks for; done is false where it is to be sent as it is.
func (c *session) savepoint(ctx context.Context, r sqltext.Statement) (done bool, err error) {
	switch {
	case !c.open():
		return false, nil
	case r.Kind == sqltext.Savepoint:
		return true, c.mark(ctx, r.Name)
	case c.group != wire.Yes, r.Kind != sqltext.RollbackTo && r.Kind != sqltext.Release:
		return false, nil
	}
	name := strings.ToLower(r.Name)
	for i, s := range slices.Backward(c.savepoints) {
		switch {
		case s.name != name:
		case r.Kind == sqltext.Release:
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
	return c.done(sqltext.Statement{Kind: sqltext.Savepoint}, nil, c.text(ctx, "SAVEPOINT "+ident.Quote(name)))
}

// askGroup asks, and says whether the savepoint is set by that.
func (c *session) askGroup(ctx context.Context, name string) (set bool, err error) {
	c.group, set, err = wire.AskGroup(ident.Quote(name), func(text string) (string, error) {
		rows, err := hosts.Rows(ctx, c.inner, text)
		if err == nil && len(rows) == 0 {
			return "", sql.ErrNoRows
		}
		if err = c.note(err); err != nil {
			return "", err
		}
		return rows[0][1], nil
	})
	return set, err
}

func (c *session) count(r sqltext.Statement, result driver.Result, err error) {
	if c.open() && !errors.Is(err, driver.ErrSkip) && r.Wrote(result, err) {
		c.writes++
	}
}

// forget is for the end of a transaction.
func (c *session) forget() { c.writes, c.savepoints = 0, nil }

// answerRows is what the session answers itself: a row of two texts, or none.
type answerRows struct{ row []string }

func (r *answerRows) Columns() []string { return make([]string, len(r.row)) }

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
