package onerow_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// pools opens the schema of dsn with the guard and, as a control, without.
func pools(t testing.TB, dsn string) map[string]*sql.DB {
	t.Helper()
	guarded, err := onerow.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := guarded.Close(); err != nil {
			t.Error(err)
		}
	})
	return map[string]*sql.DB{"guarded": guarded, "bare": dbtest.OpenDSN(t, dsn)}
}

// victim makes the transaction, in which account 1 is locked already, the victim of a deadlock: last waits for the account
// with the highest id, which another transaction has locked that has written more, and which then waits for account 1.
func victim(t *testing.T, plain *sql.DB, last func() error) error {
	t.Helper()
	exec(t, plain, "CREATE TABLE IF NOT EXISTS weight (n INT PRIMARY KEY) ENGINE=InnoDB")
	other, err := plain.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, other, "INSERT INTO weight VALUES (1)"+rowsFrom(2, 300, "(%d)"))
	exec(t, other, "UPDATE account SET balance = balance + 1 WHERE id >= 2 ORDER BY id DESC LIMIT 1")
	answer := make(chan error, 1)
	go func() { answer <- last() }()
	waits := 0
	dbtest.Eventually(t, 20*time.Second, func() (bool, string) {
		var name string
		err := onerow.QueryRow(t.Context(), plain, "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'", nil, &name, &waits)
		return err == nil && waits > 0, fmt.Sprintf("%d wait, %v", waits, err)
	})
	exec(t, other, add, 1)
	err = <-answer
	if rerr := other.Rollback(); rerr != nil {
		t.Fatal(rerr)
	}
	if number(err) != 1213 {
		t.Fatalf("no deadlock: %v", err)
	}
	return err
}

// rowsFrom are more rows of an INSERT.
func rowsFrom(first, last int, row string) string {
	var b strings.Builder
	for n := first; n <= last; n++ {
		fmt.Fprintf(&b, ", "+row, n)
	}
	return b.String()
}

func number(err error) uint16 {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return my.Number
	}
	return 0
}

func wantLost(t *testing.T, what string, err error, first uint16) {
	t.Helper()
	if !errors.Is(err, onerow.ErrTxPoisoned) || number(err) != first {
		t.Errorf("%s: %v", what, err)
	}
}

// highest is the last of many accounts.
const highest = 102

// ways are the ways in which the last statement of a transaction can meet the error that ends it.
var ways = map[string]func(ctx context.Context, tx *sql.Tx) error{
	"Exec": func(ctx context.Context, tx *sql.Tx) error { _, err := tx.ExecContext(ctx, add, highest); return err },
	"Query": func(ctx context.Context, tx *sql.Tx) error {
		return onerow.QueryRow(ctx, tx, "SELECT id FROM account WHERE id = ? FOR UPDATE", []any{highest}, new(int))
	},
	"Stmt": func(ctx context.Context, tx *sql.Tx) (err error) {
		stmt, err := tx.PrepareContext(ctx, add)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stmt.Close()) }()
		_, err = stmt.ExecContext(ctx, highest)
		return err
	},
	"Stmt.Query": func(ctx context.Context, tx *sql.Tx) (err error) {
		stmt, err := tx.PrepareContext(ctx, "SELECT id FROM account WHERE id = ? FOR UPDATE")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stmt.Close()) }()
		return stmt.QueryRowContext(ctx, highest).Scan(new(int))
	},
	// The server sends the rows as it finds them, and waits at one of the last.
	"Rows.Next": func(ctx context.Context, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT id, REPEAT('x', 1000) FROM account FOR UPDATE")
		if err != nil {
			return fmt.Errorf("no row came: %v", err) //nolint:errorlint // it is not the error that is wanted
		}
		for rows.Next() {
		}
		return errors.Join(rows.Err(), rows.Close())
	},
	"Rows.Close": func(ctx context.Context, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT id, REPEAT('x', 1000) FROM account FOR UPDATE")
		if err != nil {
			return fmt.Errorf("no row came: %v", err) //nolint:errorlint // see above
		}
		if !rows.Next() {
			return fmt.Errorf("no row came: %v", rows.Err()) //nolint:errorlint // see above
		}
		return rows.Close()
	},
}

// TestGuardLost: of a caller's own transaction that was the victim of a deadlock nothing is written, though the caller goes on and
// commits. Without the guard its second half is.
func TestGuardLost(t *testing.T) {
	for way, last := range ways {
		plain, dsn := accounts(t)
		exec(t, plain, "INSERT INTO account VALUES (3, 0)"+rowsFrom(4, highest, "(%d, 0)"))
		for name, db := range pools(t, dsn) {
			t.Run(way+" "+name, func(t *testing.T) {
				ctx := t.Context()
				db.SetMaxOpenConns(1)
				exec(t, plain, "UPDATE account SET balance = 0")
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer tx.Rollback() //nolint:errcheck // after COMMIT it is done
				exec(t, tx, add, 1)
				first := victim(t, plain, func() error { return last(ctx, tx) })
				_, err = tx.ExecContext(ctx, add, 2)
				if name == "bare" {
					if err := errors.Join(err, tx.Commit()); err != nil {
						t.Errorf("the control: %v", err)
					}
					wantTwo(t, plain, "0,1")
					return
				}
				wantLost(t, "Exec", err, 1213)
				if errors.Unwrap(first) != nil && !errors.Is(err, errors.Unwrap(first)) {
					t.Errorf("the first error is not in %v", err)
				}
				wantLost(t, "Query", onerow.QueryRow(ctx, tx, "SELECT 1", nil, new(int)), 1213)
				_, err = tx.PrepareContext(ctx, "SELECT 1") //nolint:sqlclosecheck // there is none
				wantLost(t, "Prepare", err, 1213)
				_, err = tx.ExecContext(ctx, "SAVEPOINT s")
				wantLost(t, "SAVEPOINT", err, 1213)
				err = tx.Commit()
				wantLost(t, "Commit", err, 1213)
				if !onerow.Retryable(err) {
					t.Errorf("not retryable: %v", err)
				}
				wantTwo(t, plain, "0,0")
				exec(t, db, add, 1) // the session is free for the next one
				wantTwo(t, plain, "1,0")
			})
		}
	}
}

// wantTwo looks at the accounts 1 and 2.
func wantTwo(t *testing.T, db onerow.DB, want string) {
	t.Helper()
	var got string
	if err := onerow.QueryRow(t.Context(), db, "SELECT GROUP_CONCAT(balance ORDER BY id) FROM account WHERE id <= 2", nil, &got); err != nil || got != want {
		t.Errorf("balances %s, want %s: %v", got, want, err)
	}
}

// TestGuardText: a transaction that was begun by text on a *sql.Conn is guarded too, until ROLLBACK is sent as text. A statement in
// autocommit has no second half.
func TestGuardText(t *testing.T) {
	plain, dsn := accounts(t)
	db := pools(t, dsn)["guarded"]
	for _, c := range []struct {
		begin string
		first uint16 // 0: the session goes on
	}{
		{"BEGIN", 1213}, {"/* trace=7 */ start\ttransaction ", 1213}, {"SET SESSION autocommit = 0", 1213}, {"set @@session.autocommit=OFF", 1213},
		{"SELECT 1", 0}, {"SET autocommit=1", 0}, {"BEGIN; ", 1213},
	} {
		t.Run(c.begin, func(t *testing.T) {
			ctx := t.Context()
			exec(t, plain, "UPDATE account SET balance = 0")
			conn, err := db.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close() //nolint:errcheck // closed below
			exec(t, conn, c.begin)
			if c.first == 0 {
				victim(t, plain, func() error {
					_, err := conn.ExecContext(ctx, "UPDATE account SET balance = balance + 1 WHERE id <= 2 ORDER BY id")
					return err
				})
				exec(t, conn, add, 2)
				wantTwo(t, plain, "0,1")
				return
			}
			exec(t, conn, add, 1)
			victim(t, plain, func() error { _, err := conn.ExecContext(ctx, add, 2); return err })
			for _, query := range []string{add, "COMMIT", "BEGIN", "ROLLBACK TO SAVEPOINT s", "SET autocommit = 1", "ROLLBACK; SELECT 1", "ROLLBACK AND CHAIN"} {
				var args []any
				if query == add {
					args = []any{2}
				}
				_, err := conn.ExecContext(ctx, query, args...)
				wantLost(t, query, err, 1213)
			}
			_, err = conn.BeginTx(ctx, nil)
			wantLost(t, "BeginTx", err, 1213)
			exec(t, conn, "ROLLBACK")
			exec(t, conn, add, 1)
			exec(t, conn, "COMMIT")
			exec(t, conn, "SET autocommit = 1")
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			wantTwo(t, plain, "1,0")
		})
	}
}

// TestGuardReturned: a session with a lost transaction on it that was begun by text is not given to the next user.
func TestGuardReturned(t *testing.T) {
	plain, dsn := accounts(t)
	db := pools(t, dsn)["guarded"]
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exec(t, conn, "BEGIN")
	exec(t, conn, add, 1)
	victim(t, plain, func() error { _, err := conn.ExecContext(t.Context(), add, 2); return err })
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	exec(t, db, add, 2)
	wantBalances(t, plain, "0,1")
}

// refusing is a connector whose sessions answer one statement with an error of the server's, and do not send it.
type refusing struct {
	driver.Connector
	verb   string // BEGIN, COMMIT, ROLLBACK, or the text of a statement
	number uint16
}

func (r *refusing) refuses(verb string) error {
	if r.verb != verb {
		return nil
	}
	return &mysql.MySQLError{Number: r.number, Message: "refused by the test"}
}

func (r *refusing) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := r.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &refusingConn{conn, r}, nil
}

type refusingConn struct {
	driver.Conn
	r *refusing
}

func (c *refusingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.r.refuses(query); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *refusingConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.r.refuses("BEGIN"); err != nil {
		return nil, err
	}
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	return refusingTx{tx, c.r}, err
}

func (c *refusingConn) IsValid() bool { return c.Conn.(driver.Validator).IsValid() }
func (c *refusingConn) ResetSession(ctx context.Context) error {
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

type refusingTx struct {
	driver.Tx
	r *refusing
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

// TestGuardRefusedEnd: a session that refuses ROLLBACK, as a Galera node outside of the primary component does, or refuses COMMIT, as
// a read-only server does, keeps its transaction, and the next BEGIN on it would commit that. It is closed.
func TestGuardRefusedEnd(t *testing.T) {
	for verb, refusal := range map[string]uint16{"ROLLBACK": 1047, "COMMIT": 1290} {
		for _, guarded := range []bool{true, false} {
			for _, kind := range []string{"pool", "conn"} {
				t.Run(fmt.Sprint(verb, " ", kind, " guarded ", guarded), func(t *testing.T) {
					plain, dsn := accounts(t)
					r := &refusing{Connector: connector(t, dsn), verb: verb, number: refusal}
					db := dbOf(t, r, guarded)
					db.SetMaxOpenConns(1)
					var session interface {
						onerow.DB
						BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
					} = db
					if kind == "conn" {
						conn, err := db.Conn(t.Context())
						if err != nil {
							t.Fatal(err)
						}
						defer conn.Close() //nolint:errcheck // it may be closed already, which is the point
						session = conn
					}
					tx, err := session.BeginTx(t.Context(), nil)
					if err != nil {
						t.Fatal(err)
					}
					exec(t, tx, add, 1)
					end := tx.Rollback
					if verb == "COMMIT" {
						end = tx.Commit
					}
					if err := end(); number(err) != refusal {
						t.Errorf("%s: %v", verb, err)
					}
					r.verb = ""
					again, err := session.BeginTx(t.Context(), nil)
					switch {
					case err == nil:
						err = again.Commit()
						if err != nil || kind == "conn" && guarded {
							t.Errorf("a session that was closed begins a transaction: %v", err)
						}
					case kind == "pool" || !guarded || !errors.Is(err, driver.ErrBadConn) && !errors.Is(err, sql.ErrConnDone):
						t.Errorf("BEGIN: %v", err)
					}
					want := "0,0"
					if !guarded {
						want = "1,0" // the control: half a transaction was committed
					}
					wantBalances(t, plain, want)
				})
			}
		}
	}
}

func connector(t testing.TB, dsn string) driver.Connector {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func dbOf(t testing.TB, c driver.Connector, guarded bool) *sql.DB {
	t.Helper()
	if guarded {
		c = onerow.Guard(c)
	}
	db := sql.OpenDB(c)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestGuardOtherServer: a session of a server that does not take writes any more does nothing but ROLLBACK, and is not used
// again; in autocommit too.
func TestGuardOtherServer(t *testing.T) {
	plain, dsn := accounts(t)
	for _, refusal := range []uint16{1047, 1290, 1792, 1836} {
		t.Run(fmt.Sprint(refusal), func(t *testing.T) {
			r := &refusing{Connector: connector(t, dsn), number: refusal}
			db := dbOf(t, r, true)
			db.SetMaxOpenConns(1)
			ctx := t.Context()
			session := func() (id int) {
				if err := onerow.QueryRow(ctx, db, "SELECT CONNECTION_ID()", nil, &id); err != nil {
					t.Fatal(err)
				}
				return id
			}
			before := session()
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			exec(t, tx, add, 1)
			r.verb = "DO 1"
			if _, err := tx.ExecContext(ctx, "DO 1"); number(err) != refusal {
				t.Fatal(err)
			}
			r.verb = ""
			_, err = tx.ExecContext(ctx, add, 2)
			wantLost(t, "Exec", err, refusal)
			wantLost(t, "Commit", tx.Commit(), refusal)
			wantBalances(t, plain, "0,0")
			inBetween := session()
			r.verb = "DO 1"
			if _, err := db.ExecContext(ctx, "DO 1"); number(err) != refusal {
				t.Fatal(err)
			}
			r.verb = ""
			if after := session(); before == inBetween || inBetween == after {
				t.Errorf("sessions %d, %d, %d: one was used again", before, inBetween, after)
			}
		})
	}
	// A real one.
	db := pools(t, dsn)["guarded"]
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), add, 1); number(err) != 1792 {
		t.Errorf("%v", err)
	}
	wantLost(t, "Commit", tx.Commit(), 1792)
}

// TestGuardCosts: the same statements with and without the guard, on the way that goes well and with an error that ends nothing.
func TestGuardCosts(t *testing.T) {
	_, dsn := accounts(t)
	logs := map[bool]crashtest.Log{}
	for _, guarded := range []bool{true, false} {
		counted := crashtest.Wrap(connector(t, dsn))
		db := dbOf(t, counted, guarded)
		db.SetMaxOpenConns(1)
		log, err := crashtest.Count(counted, func() error {
			ctx := t.Context()
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			exec(t, tx, add, 1)
			if _, err := tx.ExecContext(ctx, "INSERT INTO account VALUES (1, 0)"); number(err) != 1062 {
				t.Errorf("%v", err)
			}
			stmt, err := tx.PrepareContext(ctx, add)
			if err != nil {
				return err
			}
			if _, err := stmt.ExecContext(ctx, uint64(2)); err != nil {
				return err
			}
			if err := errors.Join(stmt.Close(), tx.Commit()); err != nil {
				return err
			}
			return db.PingContext(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		logs[guarded] = log
	}
	if with, without := logs[true].String(), logs[false].String(); with != without || len(logs[true]) != 5 {
		t.Errorf("with the guard:\n%swithout:\n%s", with, without)
	}
}
