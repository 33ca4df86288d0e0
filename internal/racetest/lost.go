package racetest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/guard"
)

// AfterLost calls a function, which commits once, with pools that send together what may be and lose the
// answer to the first COMMIT; and ends its context at each of the packets that follow. The function may have
// the answer, or must say that it does not know: what it did is there.
func AfterLost(t *testing.T, dsn string, call func(ctx context.Context, db *sql.DB) error) {
	t.Helper()
	answered, ended := 0, 0
	for n := int64(1); answered < 2; n++ { // the second time nothing more was sent that could end
		if n == 100 {
			t.Fatal("it never ends")
		}
		ctx, cancel := context.WithCancel(t.Context())
		lost := &losing{packets: n, end: cancel}
		db := lost.open(t, dsn)
		err := call(ctx, db)
		switch {
		case !lost.done.Load():
			t.Fatalf("no COMMIT was sent: %v", err)
		case err == nil:
			answered++
		case errors.Is(err, onerow.ErrOutcomeUnknown):
			ended++
		default:
			t.Errorf("the context ended at packet %d behind the lost answer: %v", n, err)
		}
		cancel()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if ended == 0 {
		t.Error("no call was ended")
	}
}

// losing is a network that loses the answer to the first COMMIT, and what ends at a later packet.
type losing struct {
	done    atomic.Bool
	packets int64
	end     func()
}

func (l *losing) open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn + "&multiStatements=true&interpolateParams=true")
	if err != nil {
		t.Fatal(err)
	}
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &losingConn{Conn: conn, l: l}, err //nolint:wrapcheck // a network's
	}
	cfg.Logger = &mysql.NopLogger{}
	inner, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return sql.OpenDB(guard.Packets(inner))
}

type losingConn struct {
	net.Conn
	l    *losing
	lost bool
}

func (c *losingConn) Write(b []byte) (int, error) {
	switch {
	case c.l.done.Load():
		if atomic.AddInt64(&c.l.packets, -1) == 0 {
			c.l.end()
		}
	case bytes.HasSuffix(b, []byte("COMMIT")):
		c.lost = true
		c.l.done.Store(true)
	}
	return c.Conn.Write(b) //nolint:wrapcheck // a network's
}

// Read waits for the answer that is lost, so that the transaction has been committed.
func (c *losingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.lost && err == nil {
		_ = c.Close() //nolint:errcheck // it is lost
		return 0, net.ErrClosed
	}
	return n, err //nolint:wrapcheck // a network's
}
