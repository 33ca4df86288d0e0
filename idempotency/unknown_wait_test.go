package idempotency_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// waiting opens connections of which the first claim, or the COMMIT behind it, does not get the answer,
// though it is there. The next three claims time out at the key's lock, and who tries after that is not let
// in.
type waiting struct {
	driver.Connector
	claims int
	commit bool // it is the COMMIT that is not answered
}

func (w *waiting) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := w.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &waitingConn{conn, w}, nil
}

type waitingConn struct {
	driver.Conn
	of *waiting
}

func (c *waitingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if strings.HasPrefix(query, "INSERT INTO onerow_key ") {
		c.of.claims++
		switch n := c.of.claims; {
		case n > 4:
			return nil, &mysql.MySQLError{Number: 1045, Message: "Access denied"}
		case n > 1:
			time.Sleep(250 * time.Millisecond) // what ends sooner is no wait, and tried more often
			return nil, &mysql.MySQLError{Number: 1205, Message: "Lock wait timeout exceeded"}
		}
	}
	res, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	if c.of.claims == 1 && !c.of.commit && err == nil {
		return nil, errors.Join(mysql.ErrInvalidConn, c.Close())
	}
	return res, err
}

func (c *waitingConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	return &waitingTx{tx, c}, err
}

type waitingTx struct {
	driver.Tx
	conn *waitingConn
}

func (t *waitingTx) Commit() error {
	if err := t.Tx.Commit(); err != nil || !t.conn.of.commit || t.conn.of.claims != 1 {
		return err
	}
	return errors.Join(mysql.ErrInvalidConn, t.conn.Close())
}

// TestUnknownAfterAWait: a call that waits again for its key, after a run whose outcome is unknown, and then
// does not get through, does not answer as if nothing had happened, nor tries again and again without a
// pause.
func TestUnknownAfterAWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		commit bool
		claims int
		call   func(ctx context.Context, db *sql.DB, k *idempotency.Keys) error
	}{
		"Do": {true, 5, func(ctx context.Context, db *sql.DB, k *idempotency.Keys) error {
			_, err := idempotency.Do(ctx, db, k, key("k"), charge(3))
			return err
		}},
		"Begin": {false, 4, func(ctx context.Context, db *sql.DB, k *idempotency.Keys) error {
			_, _, err := idempotency.Begin[receipt](ctx, db, k, key("k"))
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			db, dsn := open(t)
			cfg := must(mysql.ParseDSN(dsn))
			cfg.InterpolateParams = true // each statement is one Exec
			w := &waiting{Connector: must(mysql.NewConnector(cfg)), commit: c.commit}
			pool := sql.OpenDB(w)
			t.Cleanup(func() { _ = pool.Close() })
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // who has a deadline waits for the key that long
			defer cancel()
			err := c.call(ctx, pool, newKeys(t, idempotency.Config{}))
			var my *mysql.MySQLError
			if unknown := errors.Is(err, onerow.ErrOutcomeUnknown) && errors.As(err, &my); !unknown || w.claims != c.claims {
				t.Errorf("%v after %d claims", err, w.claims)
			}
			want := 0
			if c.commit {
				want = 1
			}
			if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_key"); n != 1 || charges(t, db) != want {
				t.Errorf("%d keys, %d charges", n, charges(t, db))
			}
		})
	}
}
