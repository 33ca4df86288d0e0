package idempotency_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// deaf opens connections of which the first to COMMIT does not get the answer, and for which time is up at the first question
// after a duplicate.
type deaf struct {
	driver.Connector
	commits   int
	duplicate bool
	timeIsUp  func()
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
	if c.of.duplicate {
		c.of.timeIsUp()
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c *deafConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	res, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	var my *mysql.MySQLError
	c.of.duplicate = c.of.duplicate || errors.As(err, &my) && my.Number == 1062
	return res, err
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

// TestLastUnknown: with the key last, an attempt that was committed without an answer leaves a key that the next attempt finds taken.
// That nobody can be asked then whose it is does not make a failure of it.
func TestLastUnknown(t *testing.T) {
	db, dsn := open(t)
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.InterpolateParams = true
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pool := sql.OpenDB(&deaf{Connector: connector, timeIsUp: cancel})
	t.Cleanup(func() { _ = pool.Close() })
	_, err = idempotency.Do(ctx, pool, newKeys(t, idempotency.Config{}), key("k"), charge(3), idempotency.KeyLast())
	if !errors.Is(err, onerow.ErrOutcomeUnknown) {
		t.Errorf("%v", err)
	}
	if n := charges(t, db); n != 1 {
		t.Errorf("%d charges", n)
	}
}
