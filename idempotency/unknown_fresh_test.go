package idempotency_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/idempotency"
)

// deaf opens connections of which the first to COMMIT does not get the answer.
type deaf struct {
	driver.Connector
	commits int
}

func (d *deaf) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := d.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &deafConn{conn, d}, nil
}

type deafConn struct {
	driver.Conn
	of *deaf
}

func (c *deafConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	return &deafTx{tx, c}, err
}

func (c *deafConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c *deafConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

type deafTx struct {
	driver.Tx
	conn *deafConn
}

func (t *deafTx) Commit() error {
	t.conn.of.commits++
	err := t.Tx.Commit()
	if t.conn.of.commits > 1 || err != nil {
		return err
	}
	return errors.Join(mysql.ErrInvalidConn, t.conn.Close())
}

// TestUnknownIsFresh: an attempt that was committed without an answer is this call's own: the next attempt, which
// the key refuses, answers with it, and not as a replay.
func TestUnknownIsFresh(t *testing.T) {
	db, dsn := open(t)
	connector, err := mysql.MySQLDriver{}.OpenConnector(dsn)
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(&deaf{Connector: connector})
	t.Cleanup(func() { _ = pool.Close() })
	keys := newKeys(t, idempotency.Config{})
	for _, replayed := range []bool{false, true} {
		out, err := idempotency.Do(t.Context(), pool, keys, key("k"), charge(3))
		if err != nil || out.Replayed != replayed || charges(t, db) != 1 {
			t.Errorf("%+v, %v, %d charges; replayed %t", out, err, charges(t, db), replayed)
		}
	}
}
