package onerow_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
)

// cutting is a connector whose first COMMIT reaches the server and is not answered; after
// it the server cannot be reached any more.
type cutting struct {
	driver.Connector
	cut bool
}

func (c *cutting) Connect(ctx context.Context) (driver.Conn, error) {
	if c.cut {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	conn, err := c.Connector.Connect(ctx)
	return cutConn{conn, c}, err
}

type cutConn struct {
	driver.Conn
	c *cutting
}

func (s cutConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := s.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	return cutTx{tx, s}, err
}

func (s cutConn) IsValid() bool { return !s.c.cut }

type cutTx struct {
	driver.Tx
	conn cutConn
}

func (t cutTx) Commit() error {
	t.conn.c.cut = true
	return errors.Join(t.Tx.Commit(), mysql.ErrInvalidConn)
}

// TestUnknownStaysUnknown: when the COMMIT of one attempt is not answered and the next
// attempts do not get through to the server, a token settles nothing: the error must not
// read as if nothing had happened, for it has.
func TestUnknownStaysUnknown(t *testing.T) {
	plain, dsn := accounts(t)
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(&cutting{Connector: connector})
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	err = onerow.InTokenTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		_, err := tx.ExecContext(ctx, add, 1)
		return err
	})
	if !errors.Is(err, onerow.ErrOutcomeUnknown) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the answer was %v", err)
	}
	if onerow.Retryable(err) {
		t.Error("it says that it may be run again")
	}
	wantBalances(t, plain, "1,0")
}
