package onerow_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// refusing is a connector whose sessions answer one statement with an error of the server's, and do not send
// it.
type refusing struct {
	driver.Connector
	verb   string // BEGIN, COMMIT, ROLLBACK, or the text of a statement
	number uint16
}

func (r *refusing) refuses(verb string) error {
	if r.verb != verb {
		return nil
	}
	return &mysql.MySQLError{Number: r.number, Message: "refused by the test, as with --read-only"}
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

// TestGuardRefusedEnd: a session that refuses ROLLBACK, as a Galera node outside of the primary component
// does, or refuses COMMIT, as a read-only server does, keeps its transaction, and the next BEGIN on it would
// commit that. It is closed.
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
					dbtest.Exec(t, tx, add, 1)
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

// TestGuardUnendedText: what was begun as text on a session, and not ended or not with the server's consent,
// is not there for the next one.
func TestGuardUnendedText(t *testing.T) {
	plain, dsn := accounts(t)
	for name, texts := range map[string][]string{
		"COMMIT is refused": {"BEGIN", "COMMIT"},
		"forgotten":         {"START TRANSACTION"},
		"autocommit":        {"SET autocommit = 0"},
	} {
		r := &refusing{Connector: connector(t, dsn), verb: "COMMIT", number: 1317}
		db := dbOf(t, r, true)
		db.SetMaxOpenConns(1)
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		dbtest.Exec(t, conn, texts[0])
		dbtest.Exec(t, conn, add, 1)
		for _, text := range texts[1:] {
			if _, err := conn.ExecContext(t.Context(), text); number(err) != 1317 {
				t.Error(name, err)
			}
		}
		_ = conn.Close() //nolint:errcheck // it may be closed already, which is the point
		r.verb = ""
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		dbtest.Exec(t, tx, add, 2)
		if err := tx.Rollback(); err != nil {
			t.Fatal(name, err)
		}
		wantBalances(t, plain, "0,0")
	}
}

// TestGuardOtherServer: a session of a server that does not take writes any more does nothing but ROLLBACK,
// and is not used again; in autocommit too.
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
			dbtest.Exec(t, tx, add, 1)
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

// TestGuardCosts: the same statements with and without the guard, on the way that goes well and with an error
// that ends nothing.
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
			dbtest.Exec(t, tx, add, 1)
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
