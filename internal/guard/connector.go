package guard

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/internal/sqltext"
	"github.com/onerow/onerow/internal/wire"
)

// driverConn is what a session has that can be guarded, and driverStmt what its statements have: of the
// interfaces of database/sql those that take a context.
type (
	driverConn interface {
		driver.Conn
		driver.ConnBeginTx
		driver.ConnPrepareContext
		driver.ExecerContext
		driver.QueryerContext
	}
	driverStmt interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}
)

var errOldDriver = errors.New("onerow: a session can be guarded whose driver takes contexts, as go-sql-driver/mysql does")

// New wraps a connector so that a session whose transaction was lost sends nothing before ROLLBACK. One that
// is wrapped is returned as it is.
func New(c driver.Connector) driver.Connector {
	if guarded, ok := c.(connector); ok {
		return guarded
	}
	return connector{Connector: c, left: new(leftSessions)}
}

// Packets is [New] for a connector whose sessions take several statements at once and interpolate
// arguments, as pool.Open has them: of a mysql.Config with MultiStatements and InterpolateParams, with a
// wrapper for traces around it perhaps, whose results are the driver's (mysql.Result) and whose rows have
// further results (driver.RowsNextResultSet). What may be sent together then is; a text of the caller's
// with a semicolon in it is prepared, so that nothing can be slipped in. Not for a node of Galera, which
// pool.Open finds out and pool.Check refuses.
func Packets(c driver.Connector) driver.Connector {
	return connector{Connector: c, packets: true, left: new(leftSessions)}
}

// Answered is [Packets] for sessions whose server is known to be in a MySQL replication group, or in none, so
// that no session asks: each then sends the same statements.
func Answered(c driver.Connector, group wire.Answer) driver.Connector {
	return connector{Connector: c, packets: true, utf8mb4: true, group: group, left: new(leftSessions)}
}

// Opened is [New] for sessions of which more is known. utf8mb4 says that it is their only character set.
func Opened(o *hosts.Hosts, utf8mb4 bool) driver.Connector {
	return connector{Connector: o, utf8mb4: utf8mb4, left: new(leftSessions)}
}

type connector struct {
	driver.Connector
	packets bool // of Packets
	group   wire.Answer
	utf8mb4 bool // is known to be the only character set of the sessions
	left    *leftSessions
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	var at hosts.Stay
	var conn driver.Conn
	var err error
	if several, ok := c.Connector.(*hosts.Hosts); ok {
		conn, at, err = several.Open(ctx)
	} else {
		conn, err = c.Connector.Connect(ctx)
	}
	if err != nil {
		return nil, err
	}
	if c.packets {
		at.Takes = hosts.Together
	}
	inner, ok := conn.(driverConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%w: it is %T", errOldDriver, conn), conn.Close())
	}
	return &session{inner: inner, at: at, peer: at.Peer, left: c.left, utf8mb4: c.utf8mb4, group: c.group,
		packets: at.Takes, several: at.Takes == hosts.Together, charset: sqltext.UTF8}, nil
}

// Close closes the wrapped connector if it can be closed, and waits for the sessions that are being killed.
// sql.DB.Close calls it.
func (c connector) Close() error {
	c.left.close()
	if closer, ok := c.Connector.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}
