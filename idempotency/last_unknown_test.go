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

// deaf opens connections of which the first to COMMIT does not get the answer, and which meet what refuse
// says at the first question after a duplicate.
type deaf struct {
	driver.Connector
	commits   int
	duplicate bool
	refuse    func() error
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
		if err := c.of.refuse(); err != nil {
			return nil, err
		}
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

// TestLastUnknown: with the key last, an attempt that was committed without an answer leaves a key that the
// next attempt finds taken, and rows that the function may find before that. That nobody can be asked then
// whose they are does not make a failure of it.
func TestLastUnknown(t *testing.T) {
	errThere := errors.New("it is there already")
	once := func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
		_, err := tx.ExecContext(ctx, "INSERT INTO charge (id, amount) VALUES (3, 3)")
		var my *mysql.MySQLError
		if errors.As(err, &my) && my.Number == 1062 {
			return receipt{}, errThere
		}
		return receipt{ID: 3, Amount: 3}, err
	}
	for name, fn := range map[string]func(context.Context, *onerow.Tx) (receipt, error){"the key is taken": charge(3), "the function meets its own row": once} {
		for why, answers := range map[string]error{"time is up": nil, "the server lets nobody in": &mysql.MySQLError{Number: 1045, Message: "Access denied"}} {
			t.Run(name+", "+why, func(t *testing.T) {
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
				d := &deaf{Connector: connector, refuse: func() error {
					if answers == nil {
						cancel()
					}
					return answers
				}}
				pool := sql.OpenDB(d)
				t.Cleanup(func() { _ = pool.Close() })
				do := func(ctx context.Context) (idempotency.Outcome[receipt], error) {
					return idempotency.Do(ctx, pool, newKeys(t, idempotency.Config{}), key("k"), fn, idempotency.KeyLast())
				}
				if _, err = do(ctx); !errors.Is(err, onerow.ErrOutcomeUnknown) {
					t.Errorf("%v", err)
				}
				if n := charges(t, db); n != 1 {
					t.Errorf("%d charges", n)
				}
				d.duplicate, d.refuse = false, func() error { return nil }
				if out, err := do(t.Context()); err != nil || !out.Replayed {
					t.Errorf("called again: %+v, %v", out, err)
				}
			})
		}
	}
}

// TestUnknownIsFresh: an attempt that was committed without an answer is this call's own: the next attempt, which
// the key refuses, answers with it, and not as a replay.
func TestUnknownIsFresh(t *testing.T) {
	db, dsn := open(t)
	connector, err := mysql.MySQLDriver{}.OpenConnector(dsn)
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(&deaf{Connector: connector, refuse: func() error { return nil }})
	t.Cleanup(func() { _ = pool.Close() })
	keys := newKeys(t, idempotency.Config{})
	for _, want := range []idempotency.How{idempotency.Fresh, idempotency.Replayed} {
		out, err := idempotency.Do(t.Context(), pool, keys, key("k"), charge(3))
		if err != nil || out.How != want || charges(t, db) != 1 {
			t.Errorf("%+v, %v, %d charges; want %v", out, err, charges(t, db), want)
		}
	}
}
