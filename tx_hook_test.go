package onerow_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// hooked is a connector of a real server. Before a statement, BEGIN, COMMIT or ROLLBACK is sent on a session
// its hook is asked: an error is answered instead. Sessions count from 1.
type hooked struct {
	driver.Connector
	sessions int
	// connect, if set, is asked before a session is opened, and told of the open one.
	connect func(session int) error
	opened  func(ctx context.Context, session int, conn driver.ExecerContext) error
	before  func(ctx context.Context, session int, statement string, conn driver.ExecerContext) error
}

// hookedPool is a pool of one session on h; what it discards it opens anew.
func hookedPool(t *testing.T, dsn string, h *hooked) *sql.DB {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if h.Connector, err = mysql.NewConnector(cfg); err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(h)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func (h *hooked) Connect(ctx context.Context) (driver.Conn, error) {
	h.sessions++
	if h.connect != nil {
		if err := h.connect(h.sessions); err != nil {
			return nil, err
		}
	}
	conn, err := h.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	s := &hookedConn{conn, h, h.sessions}
	if h.opened != nil {
		err = h.opened(ctx, s.session, s.execer())
	}
	return s, err
}

type hookedConn struct {
	driver.Conn
	h       *hooked
	session int
}

func (s *hookedConn) execer() driver.ExecerContext { return s.Conn.(driver.ExecerContext) }

func (s *hookedConn) ask(ctx context.Context, statement string) error {
	if s.h.before == nil {
		return nil
	}
	return s.h.before(ctx, s.session, statement, s.execer())
}

func (s *hookedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := s.ask(ctx, query); err != nil {
		return nil, err
	}
	return s.execer().ExecContext(ctx, query, args)
}

func (s *hookedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.ask(ctx, query); err != nil {
		return nil, err
	}
	return s.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (s *hookedConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := s.ask(ctx, "BEGIN"); err != nil {
		return nil, err
	}
	tx, err := s.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	return &hookedTx{tx, s}, err
}

func (s *hookedConn) ResetSession(ctx context.Context) error {
	return s.Conn.(driver.SessionResetter).ResetSession(ctx)
}

func (s *hookedConn) IsValid() bool { return s.Conn.(driver.Validator).IsValid() }

type hookedTx struct {
	driver.Tx
	conn *hookedConn
}

func (t *hookedTx) Commit() error {
	if err := t.conn.ask(context.Background(), "COMMIT"); err != nil {
		return err
	}
	return t.Tx.Commit()
}

func (t *hookedTx) Rollback() error {
	if err := t.conn.ask(context.Background(), "ROLLBACK"); err != nil {
		return err
	}
	return t.Tx.Rollback()
}

// serverError is what a server answers with the number.
func serverError(number uint16) error {
	return &mysql.MySQLError{Number: number, Message: "made by the test, as with --read-only"}
}

// lostCommit executes the first COMMIT of a pool and answers that the connection was lost.
func lostCommit() func(context.Context, int, string, driver.ExecerContext) error {
	lost := false
	return func(ctx context.Context, _ int, statement string, conn driver.ExecerContext) error {
		if lost || !strings.HasPrefix(statement, "COMMIT") {
			return nil
		}
		lost = true
		_, err := conn.ExecContext(ctx, "COMMIT", nil)
		return errors.Join(err, mysql.ErrInvalidConn)
	}
}
