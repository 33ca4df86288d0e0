package hosts

import (
	"context"
	"database/sql/driver"
	"errors"
)

// one connects to one server.
type one struct {
	driver.Connector
	setUp *setUp
}

// Connect opens a session and sets it up.
func (o one) Connect(ctx context.Context) (driver.Conn, error) {
	conn, _, err := o.Open(ctx)
	return conn, err
}

// Open also says what is known of the session.
func (o one) Open(ctx context.Context) (driver.Conn, Stay, error) {
	conn, err := o.Connector.Connect(ctx)
	if err != nil {
		return nil, Stay{}, err
	}
	peer, err := o.setUp.do(ctx, conn)
	if err != nil {
		return nil, Stay{}, errors.Join(err, conn.Close())
	}
	peer.dial = o.Connector
	return conn, Stay{Peer: peer, Takes: o.setUp.takes()}, nil
}
