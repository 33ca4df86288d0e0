package floortest

import (
	"context"
	"database/sql/driver"

	"github.com/go-sql-driver/mysql"
)

// Refusing is a connector whose sessions answer one statement with an error of the server's, and do not send
// it.
type Refusing struct {
	driver.Connector
	Verb   string // BEGIN, COMMIT, ROLLBACK, or the text of a statement
	Number uint16
}

func (r *Refusing) refuses(verb string) error {
	if r.Verb != verb {
		return nil
	}
	return &mysql.MySQLError{Number: r.Number, Message: "refused by the test, as with --read-only"}
}

// Connect opens one of them.
func (r *Refusing) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := r.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &refusingConn{conn.(Conn), r}, nil
}

// Conn is what a connection of go-sql-driver's has.
type Conn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

type refusingConn struct {
	Conn
	r *Refusing
}

func (c *refusingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.r.refuses(query); err != nil {
		return nil, err
	}
	return c.Conn.ExecContext(ctx, query, args)
}

func (c *refusingConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.r.refuses("BEGIN"); err != nil {
		return nil, err
	}
	tx, err := c.Conn.BeginTx(ctx, opts)
	return refusingTx{tx, c.r}, err
}

type refusingTx struct {
	driver.Tx
	r *Refusing
}

func (tx refusingTx) Commit() error {
	if err := tx.r.refuses("COMMIT"); err != nil {
		return err
	}
	return tx.Tx.Commit()
}

func (tx refusingTx) Rollback() error {
	if err := tx.r.refuses("ROLLBACK"); err != nil {
		return err
	}
	return tx.Tx.Rollback()
}
