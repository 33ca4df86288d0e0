package onerow

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// When a context ends under a statement, the driver closes its connection and returns at once. The server
// does not look: what waits for a lock there, waits on, holds the locks of its transaction, and may commit.
// So the session is killed, over a new connection to the same host.

// killPatience is how long a session that was left may take to be killed, connection and all.
const killPatience = time.Second

// peer is a session as its server knows it.
type peer struct {
	dial   driver.Connector // to the same host, without set-up
	id     string           // what KILL takes; empty: not known
	server string           // which server counts so
}

// askPeer asks for both, with the set-up of a session. Behind a proxy that answers itself the id is the
// proxy's, and it must understand KILL in the same way. It reads no table.
const askPeer = `SELECT CONNECTION_ID(), CONCAT_WS('/', @@hostname, @@port, @@server_id)`

// leftSessions are the sessions of a pool that are being killed.
type leftSessions struct {
	mu      sync.Mutex
	closed  bool
	killing sync.WaitGroup
}

// begin starts to kill one, unless the pool is closed.
func (l *leftSessions) begin(kill func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.killing.Go(kill)
	}
}

// close waits for those that are being killed.
func (l *leftSessions) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.killing.Wait()
}

// leave kills the session on its server, for its caller has gone. It does not wait: the caller has his answer
// when his deadline is over. What it starts ends within killPatience, and the pool's Close waits for it.
func (c *guardConn) leave() {
	if c.left == nil || c.peer.id == "" {
		return
	}
	p := c.peer
	c.peer = peer{}
	c.left.begin(func() {
		ctx, cancel := context.WithTimeout(context.Background(), killPatience)
		defer cancel()
		_ = p.kill(ctx) //nolint:errcheck // a host that cannot be reached ends the session by its own timeouts
	})
}

// kill kills the session, if the host is still the same server: behind an address that several share, its
// number might be another's.
func (p peer) kill(ctx context.Context) (err error) {
	conn, err := p.dial.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	now, err := asked(ctx, conn, askPeer)
	if err != nil {
		return err
	}
	if len(now) != 2 || now[1] != p.server {
		return fmt.Errorf("onerow: another server answers at the address of the session that was left: %q, not %q", now, p.server)
	}
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		return errNoText
	}
	_, err = execer.ExecContext(ctx, "KILL "+p.id, nil)
	return err
}

var errNoText = errors.New("onerow: the driver cannot run a text on a connection")

// asked is the one row of a text's last result.
func asked(ctx context.Context, conn driver.Conn, text string) ([]string, error) {
	queryer, ok := conn.(driver.QueryerContext)
	if !ok {
		return nil, errNoText
	}
	rows, err := queryer.QueryContext(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	values := make([]driver.Value, len(rows.Columns()))
	err = rows.Next(values)
	if err == nil {
		for err == nil { // to the end, for an error may be there
			err = rows.Next(make([]driver.Value, len(values)))
		}
	}
	if err == io.EOF { //nolint:errorlint // as drivers return it
		err = nil
	}
	if err = errors.Join(err, rows.Close()); err != nil {
		return nil, err
	}
	row := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case []byte:
			row[i] = string(v)
		default:
			row[i] = fmt.Sprint(v)
		}
	}
	return row, nil
}

// digits says whether a text is a number, as a session's is.
func digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
