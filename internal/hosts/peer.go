package hosts

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// Peer is a session as its server knows it.
type Peer struct {
	dial   driver.Connector // to the same host, without set-up
	id     string           // what KILL takes; empty: not known
	server string           // which server counts so
}

// askPeer asks for both, with the set-up of a session. Behind a proxy that answers itself the id is the
// proxy's, and it must understand KILL in the same way. It reads no table.
const askPeer = `SELECT CONNECTION_ID(), CONCAT_WS('/', @@hostname, @@port, @@server_id)`

// Known says whether the session can be killed.
func (p Peer) Known() bool { return p.id != "" }

// Kill kills the session, if the host is still the same server: behind an address that several share, its
// number might be another's.
func (p Peer) Kill(ctx context.Context) (err error) {
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

// digits says whether a text is a number, as a session's is.
func digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
