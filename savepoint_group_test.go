package onerow_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
)

// member is a connector of a real server that logs what is sent, and answers, if in is set, that the server
// is in a group. Package proof/cluster has real groups.
type member struct {
	driver.Connector
	in   bool
	sent []string
}

func (m *member) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := m.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &memberConn{conn.(floortest.Conn), m}, nil
}

type memberConn struct {
	floortest.Conn
	m *member
}

func (c *memberConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.m.sent = append(c.m.sent, query)
	return c.Conn.ExecContext(ctx, query, args)
}

func (c *memberConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.m.sent = append(c.m.sent, query)
	if strings.HasPrefix(query, "/*M! SAVEPOINT") && c.m.in {
		return &oneRow{row: []string{"groups", "1"}}, nil
	}
	return c.Conn.QueryContext(ctx, query, args)
}

type oneRow struct{ row []string }

func (r *oneRow) Columns() []string { return []string{"a", "b"} }
func (r *oneRow) Close() error      { return nil }

func (r *oneRow) Next(dest []driver.Value) error {
	if r.row == nil {
		return io.EOF
	}
	dest[0], dest[1], r.row = r.row[0], r.row[1], nil
	return nil
}

func memberPool(t *testing.T, dsn string, in, guarded bool) (*sql.DB, *member) {
	t.Helper()
	m := &member{Connector: floortest.Connector(t, dsn), in: in}
	db := floortest.PoolOf(t, m, guarded)
	db.SetMaxOpenConns(1)
	return db, m
}

// savepoints are the statements among those sent that a server sets or takes back a savepoint with, and asks.
func (m *member) savepoints() (real, asked int) {
	for _, query := range m.sent {
		switch {
		case strings.HasPrefix(query, "/*M! SAVEPOINT"):
			asked++
		case strings.Contains(query, "SAVEPOINT"):
			real++
		}
	}
	return real, asked
}

// TestGuardInAGroup: on a member of a group the session remembers savepoints, whoever sets them, and sends
// none. To go back to where nothing was written since does nothing; else the transaction cannot be committed.
func TestGuardInAGroup(t *testing.T) {
	const one, none, twice = "UPDATE account SET balance = balance + 1 WHERE id = 1", "UPDATE account SET balance = 7 WHERE id = 99", "INSERT INTO account VALUES (1, 5)"
	const lost = -1
	plain, dsn := floortest.Accounts(t)
	db, m := memberPool(t, dsn, true, true)
	for _, c := range []struct {
		name    string
		sent    []string
		answer  int // of the last but one: 0 ok, lost, or the server's number
		balance string
	}{
		{"released", []string{"SAVEPOINT a", one, "RELEASE SAVEPOINT a"}, 0, "1,0"},
		{"released twice", []string{"SAVEPOINT a", one, "RELEASE SAVEPOINT a", "release savepoint a"}, 1305, "1,0"},
		{"nothing written", []string{one, "SAVEPOINT a", "SELECT 1", none, "SET @a = 1", "DO 0", "ROLLBACK TO SAVEPOINT a"}, 0, "1,0"},
		{"nothing but a duplicate", []string{one, "savepoint `A`;", twice, "ROLLBACK WORK TO a"}, 0, "1,0"},
		{"written before the inner one", []string{"SAVEPOINT a", one, "SAVEPOINT b", "ROLLBACK TO b"}, 0, "1,0"},
		{"set again behind the write", []string{"SAVEPOINT a", one, "SAVEPOINT a", "ROLLBACK TO a"}, 0, "1,0"},
		{"gone back behind an inner one", []string{"SAVEPOINT a", "SAVEPOINT b", "ROLLBACK TO a", "ROLLBACK TO b"}, 1305, "0,0"},
		{"written", []string{"SAVEPOINT a", one, "ROLLBACK TO SAVEPOINT a"}, lost, "0,0"},
		{"written in another way", []string{"SAVEPOINT a", "REPLACE INTO account VALUES (1, 3)", "rollback to a"}, lost, "0,0"},
		{"perhaps written", []string{"SAVEPOINT a", "BEGIN NOT ATOMIC SELECT 1; END", "rollback to a"}, lost, "0,0"},
		{"none", []string{one, "ROLLBACK TO a"}, 1305, "1,0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, query := range c.sent {
				_, err = tx.ExecContext(t.Context(), query)
			}
			cerr := tx.Commit()
			var my *mysql.MySQLError
			switch {
			case c.answer == lost && errors.Is(err, onerow.ErrNotUndone) && errors.Is(cerr, onerow.ErrTxPoisoned) && errors.Is(cerr, onerow.ErrNotUndone):
			case c.answer == 0 && err == nil && cerr == nil, c.answer > 0 && errors.As(err, &my) && int(my.Number) == c.answer && cerr == nil:
			default:
				t.Errorf("%v, COMMIT %v", err, cerr)
			}
			floortest.WantTwo(t, plain, c.balance)
		})
	}
	if real, asked := m.savepoints(); real != 0 || asked != 1 {
		t.Errorf("%d savepoints sent, asked %d times:\n%s", real, asked, strings.Join(m.sent, "\n"))
	}
}

// TestSavepointInAGroup: a verb that fails in a caller's transaction there. Before its first write its owner
// may commit; behind it the owner must not.
func TestSavepointInAGroup(t *testing.T) {
	plain, dsn := floortest.Accounts(t)
	errNo := errors.New("no")
	for name, guarded := range map[string]bool{"guarded": true, "plain": false} {
		for _, writes := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
				db, m := memberPool(t, dsn, true, guarded)
				err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
					dbtest.Exec(t, tx, floortest.Add, 1)
					for range 2 {
						verr := onerow.InTx(ctx, tx, func(ctx context.Context, tx *onerow.Tx) error {
							return tx.Savepoint(ctx, "verb", func() error {
								if writes {
									dbtest.Exec(t, tx, floortest.Add, 2)
								}
								return errNo
							})
						})
						if !errors.Is(verr, errNo) || errors.Is(verr, onerow.ErrNotUndone) != writes {
							t.Errorf("writes %v: %v", writes, verr)
						}
						if writes {
							break
						}
					}
					if (tx.Err() != nil) != writes {
						t.Errorf("writes %v: %v", writes, tx.Err())
					}
					return nil // whatever the verb says
				})
				want := "1,0"
				if writes {
					want = "0,0"
				}
				if errors.Is(err, onerow.ErrTxPoisoned) != writes || onerow.Retryable(err) {
					t.Errorf("writes %v: %v", writes, err)
				}
				floortest.WantTwo(t, plain, want)
				if real, asked := m.savepoints(); real != 0 || asked != 1 {
					t.Errorf("%d savepoints sent, asked %d times: %q", real, asked, m.sent)
				}
			})
		}
	}
}

// TestSavepointAlone: a server that is in no group is asked with the first savepoint, which costs nothing on
// MariaDB; what was written is taken back.
func TestSavepointAlone(t *testing.T) {
	plain, dsn := floortest.Accounts(t)
	mariaDB := strings.Contains(dbtest.Scan[string](t, plain, "SELECT VERSION()"), "MariaDB")
	for name, guarded := range map[string]bool{"guarded": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
			db, m := memberPool(t, dsn, false, guarded)
			for range 2 {
				err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
					dbtest.Exec(t, tx, floortest.Add, 1)
					for range 2 {
						_ = onerow.InTx(ctx, tx, func(ctx context.Context, tx *onerow.Tx) error { //nolint:errcheck // its own
							return tx.Savepoint(ctx, "verb", func() error { dbtest.Exec(t, tx, floortest.Add, 2); return errors.New("no") })
						})
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			floortest.WantTwo(t, plain, "2,0")
			asks := 2 // a transaction
			if guarded {
				asks = 1 // a session
			}
			want := 8 // SAVEPOINT and back, four times
			if mariaDB {
				want -= asks
			}
			if real, asked := m.savepoints(); real != want || asked != asks {
				t.Errorf("%d savepoints sent, want %d, asked %d times: %q", real, want, asked, m.sent)
			}
		})
	}
}
