package cost

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
)

// meter is a connector whose sessions measure their statements.
type meter struct {
	inner    driver.Connector
	observer *sql.DB
	mariaDB  bool
	mu       sync.Mutex
	list     []Statement
}

func (m *meter) Driver() driver.Driver { return m.inner.Driver() }

func (m *meter) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := m.inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{conn: c.(conn), meter: m}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return s, nil
}

// conn is what go-sql-driver's connections can do.
type conn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// session measures one connection. database/sql uses it from one goroutine at a time.
type session struct {
	conn
	meter  *meter
	id     int64
	inTx   bool
	own    int64 // what reading the counters adds to them
	read   int64
	locked int64
}

// prepare asks for the session's id, and twice for the counters, to know what asking costs.
func (s *session) prepare(ctx context.Context) error {
	id, err := s.ask(ctx, "SELECT CONNECTION_ID()", 0)
	if err != nil {
		return err
	}
	s.id = id
	first, err := s.counters(ctx)
	if err != nil {
		return err
	}
	s.read, err = s.counters(ctx)
	s.own = s.read - first
	return err
}

// ask adds up one column of a query's rows, on this session.
func (s *session) ask(ctx context.Context, query string, column int) (sum int64, err error) {
	rows, err := s.conn.QueryContext(ctx, query, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return sum, nil
		case err != nil:
			return 0, err
		}
		text := fmt.Sprint(values[column])
		if bytes, ok := values[column].([]byte); ok {
			text = string(bytes)
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", query, err)
		}
		sum += n
	}
}

func (s *session) counters(ctx context.Context) (int64, error) {
	return s.ask(ctx, "SHOW SESSION STATUS LIKE 'Handler_read%'", 1)
}

// note measures what came since the last time.
func (s *session) note(ctx context.Context, query string) error {
	read, err := s.counters(ctx)
	if err != nil {
		return err
	}
	locked, err := s.meter.locks(ctx, s.id)
	if err != nil {
		return err
	}
	s.meter.mu.Lock()
	s.meter.list = append(s.meter.list, Statement{query, read - s.read - s.own, locked - s.locked})
	s.meter.mu.Unlock()
	s.read, s.locked = read, locked
	return nil
}

// openTables has the server open each table of the schema, for which MySQL reads its dictionary, and MariaDB
// its statistics: those are no rows of a statement that comes first.
func (m *meter) openTables(ctx context.Context) error {
	var tables []string
	err := onerow.Query(ctx, m.observer, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'", nil, func(rows *sql.Rows) error {
		tables = append(tables, "")
		return rows.Scan(&tables[len(tables)-1])
	})
	for _, table := range tables {
		_, e := m.observer.ExecContext(ctx, "DELETE FROM "+ident.Quote(table)+" LIMIT 0") //nolint:gosec // quoted
		err = errors.Join(err, e)
	}
	return err
}

// sqlLocksMySQL names the session by its thread: a lock's thread is the one that asked for it.
const sqlLocksMySQL = `SELECT COUNT(*) FROM performance_schema.data_locks AS l JOIN performance_schema.threads AS t ON t.THREAD_ID = l.THREAD_ID
 WHERE t.PROCESSLIST_ID = ? AND l.LOCK_TYPE = 'RECORD'`

func (m *meter) locks(ctx context.Context, id int64) (n int64, err error) {
	if !m.mariaDB {
		err = m.observer.QueryRowContext(ctx, sqlLocksMySQL, id).Scan(&n)
		return n, err
	}
	var engine, name, status string
	if err := m.observer.QueryRowContext(ctx, "SHOW ENGINE INNODB STATUS").Scan(&engine, &name, &status); err != nil {
		return 0, err
	}
	for _, transaction := range strings.Split(status, "---TRANSACTION ")[1:] {
		before, _, ok := strings.Cut(transaction, " row lock(s)")
		if !ok || !strings.Contains(transaction, fmt.Sprintf("MariaDB thread id %d,", id)) {
			continue
		}
		return strconv.ParseInt(before[strings.LastIndexByte(before, ' ')+1:], 10, 64)
	}
	return 0, nil
}

func (s *session) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("cost: a prepared statement is not measured: send it as text")
}

func (s *session) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := s.conn.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	s.inTx, s.locked = true, 0
	return transaction{tx, s}, nil
}

type transaction struct {
	driver.Tx
	session *session
}

func (t transaction) Commit() error {
	t.session.inTx = false
	return t.Tx.Commit()
}

func (t transaction) Rollback() error {
	t.session.inTx = false
	return t.Tx.Rollback()
}

// begin gives a statement a transaction of its own if it has none, and returns what ends it.
func (s *session) begin(ctx context.Context) (end func() error, err error) {
	if s.inTx {
		return func() error { return nil }, nil
	}
	tx, err := s.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return nil, err
	}
	return tx.Commit, nil
}

func (s *session) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	end, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	result, err := s.conn.ExecContext(ctx, query, args)
	return result, joined(err, s.note(ctx, query), end())
}

func (s *session) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	end, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.conn.QueryContext(ctx, query, args)
	if err != nil {
		return nil, errors.Join(err, end())
	}
	return &measured{rows, func() error { return errors.Join(s.note(ctx, query), end()) }}, nil
}

// measured notes a query's cost when its last row is read.
type measured struct {
	driver.Rows
	note func() error
}

func (r *measured) Close() error { return errors.Join(r.Rows.Close(), r.note()) }

// joined leaves a single error as it is: database/sql compares driver.ErrSkip, and onerow the server's
// number.
func joined(err error, more ...error) error {
	if rest := errors.Join(more...); rest != nil {
		return errors.Join(err, rest)
	}
	return err
}
