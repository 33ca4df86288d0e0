package migrations

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// refusing is a connector of a real server whose statement number at is refused, times times, as a node of a
// cluster refuses one.
type refusing struct {
	driver.Connector
	number    uint16
	at, times int64
	sent      atomic.Int64
}

func (r *refusing) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := r.Connector.Connect(ctx)
	return &refusingConn{conn, r}, err
}

func (r *refusing) refuses() error {
	if n := r.sent.Add(1); n >= r.at && n < r.at+r.times {
		return &mysql.MySQLError{Number: r.number, Message: "refused by the test"}
	}
	return nil
}

type refusingConn struct {
	driver.Conn
	r *refusing
}

func (c *refusingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.r.refuses(); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *refusingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.r.refuses(); err != nil {
		return nil, err
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

// TestUpAgain: refused at any statement, one call migrates all the same; refused for ever, or for another
// reason, it says so. Two migrations have all kinds of statements, and what is between two of each.
func TestUpAgain(t *testing.T) {
	up := func(number uint16, at, times int64) (int64, *sql.DB, error) {
		dsn := dbtest.DSN(t)
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		connector, err := mysql.NewConnector(cfg)
		if err != nil {
			t.Fatal(err)
		}
		r := &refusing{Connector: connector, number: number, at: at, times: times}
		db := sql.OpenDB(r)
		defer db.Close() //nolint:errcheck // it is of no use any more
		err = Apply(t.Context(), db, numbered(2), TableName)
		return r.sent.Load(), dbtest.OpenDSN(t, dsn), err
	}
	all, _, err := up(0, 0, 0)
	if err != nil || all < 12 {
		t.Fatal(all, err)
	}
	for at := int64(1); at < all; at++ { // the last one gives the lock back, see TestUnlockFailed
		number := []uint16{1213, 3101, 1047}[at%3]
		sent, db, err := up(number, at, 1)
		if err != nil || sent <= all-1 {
			t.Errorf("refused at statement %d with %d: %d statements, %v", at, number, sent, err)
			continue
		}
		if got := versions(t, db, TableName); got != "0,1,2" {
			t.Errorf("refused at statement %d: versions %s", at, got)
		}
		if got := tables(t, db); !slices.Equal(got, []string{"a1", "a2", "b1", "b2", TableName}) {
			t.Errorf("refused at statement %d: tables %q", at, got)
		}
	}
	var my *mysql.MySQLError
	if _, _, err := up(3101, 5, 1<<40); !errors.As(err, &my) || my.Number != 3101 {
		t.Errorf("refused for ever: %v", err)
	}
	if sent, _, err := up(1142, 5, 1<<40); !errors.As(err, &my) || my.Number != 1142 || sent > all {
		t.Errorf("%d statements, %v", sent, err)
	}
}
