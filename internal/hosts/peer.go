package hosts

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// session is a connection of the driver's to which texts can be sent.
type session interface {
	driver.Conn
	driver.ExecerContext
	driver.QueryerContext
}

// Peer is a session as its server knows it.
type Peer struct {
	host   *host
	id     string // what KILL takes; empty: not known
	server string // which server counts so
}

// askPeer asks for both, with the set-up of a session. Behind a proxy that answers itself the id is the
// proxy's, and it must understand KILL in the same way. It reads no table.
const askPeer = `SELECT CONNECTION_ID(), CONCAT_WS('/', @@hostname, @@port, @@server_id)`

var errOddAnswer = errors.New("onerow: the server answered what was not asked")

// peerOf is what the server calls the session. The text ends with askPeer.
func peerOf(ctx context.Context, conn driver.QueryerContext, text string) (as Peer, err error) {
	rows, err := Rows(ctx, conn, text)
	if err != nil {
		return as, err
	}
	if len(rows) != 1 || len(rows[0]) != 2 || rows[0][0] == "" || strings.Trim(rows[0][0], "0123456789") != "" {
		return as, fmt.Errorf("%w: %q to %s", errOddAnswer, rows, askPeer)
	}
	return Peer{id: rows[0][0], server: rows[0][1]}, nil
}

// Known says whether the session can be killed.
func (p Peer) Known() bool { return p.id != "" }

// erNoSuchThread is the server's answer to KILL for a session that has ended.
const erNoSuchThread = 1094

// Kill kills the session. Nobody waits for the answer, so what keeps it alive is told to the driver's logger
// (mysql.Config.Logger), with what to do.
func (p Peer) Kill(ctx context.Context) {
	if err := p.kill(ctx); err != nil && mysqlerr.Number(err) != erNoSuchThread {
		p.host.log.Print(fmt.Sprintf("onerow: the session %s at %s, which its caller has left, could not be killed and may hold locks: "+
			"see SHOW PROCESSLIST there, then KILL %s: %v", p.id, p.host.addr, p.id, err))
	}
}

// kill does it if the host is still the same server: behind an address that several share, the session's
// number might be another's.
func (p Peer) kill(ctx context.Context) (err error) {
	conn, err := p.host.driver.Connect(ctx) // without set-up
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	sends := conn.(session) //nolint:forcetypeassert // as the one that was opened
	now, err := peerOf(ctx, sends, askPeer)
	if err != nil {
		return err
	}
	if now.server != p.server {
		return fmt.Errorf("onerow: another server answers at the address of the session that was left: %q, not %q", now.server, p.server)
	}
	_, err = sends.ExecContext(ctx, "KILL "+p.id, nil)
	return err
}

// Rows reads the rows of a text's one result.
func Rows(ctx context.Context, conn driver.QueryerContext, text string) (all [][]string, err error) {
	rows, err := conn.QueryContext(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		row := make([]string, len(values))
		for i, v := range values {
			if b, isBytes := v.([]byte); isBytes {
				v = string(b)
			}
			row[i] = fmt.Sprint(v)
		}
		all = append(all, row)
	}
}

// IsOn asks a question whose answer is 0 or 1.
func IsOn(ctx context.Context, conn driver.QueryerContext, question string) (bool, error) {
	rows, err := Rows(ctx, conn, question)
	switch {
	case err != nil:
		return false, err
	case len(rows) != 1:
		return false, fmt.Errorf("%w: %d rows to %s", errOddAnswer, len(rows), question)
	}
	return rows[0][0] != "0", nil
}

// Stay is a session's time at a host, and what is known of the session. Its zero value is that of a session
// of which nothing is.
type Stay struct {
	Peer  Peer
	Takes Packets

	host *host // nil: the pool has only one
	era  int64
}

// Packets says what a session takes.
type Packets int8

// A session takes one of these.
const (
	OnePacketEach Packets = iota
	Together              // several statements, which only the guard sends
	AsTheNameSays         // several statements, for the data source name asks for that
)

// Over says whether all sessions of that time were given up.
func (s Stay) Over() bool { return s.host != nil && s.host.era.Load() != s.era }

// Met looks at an error of the session. A server that takes no writes is left out, with all sessions to it.
// Where a session was lost without a word from the server, a timeout perhaps, they are given up as well, and
// the next connection finds out whether it is there.
func (s Stay) Met(err error) {
	if s.host == nil || err == nil || s.Over() {
		return
	}
	switch class := mysqlerr.Classify(err); {
	case class == mysqlerr.NotHere:
		s.host.leave(time.Now().Add(leftOut))
	case class != mysqlerr.ConnectionLost || mysqlerr.Number(err) != 0:
		return
	}
	s.host.era.CompareAndSwap(s.era, s.era+1)
}
