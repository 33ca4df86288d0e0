package guard_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// TestGuardRefusedEnd: a session that refuses ROLLBACK, as a Galera node outside of the primary component
// does, or refuses COMMIT, as a read-only server does, keeps its transaction, and the next BEGIN on it would
// commit that. It is closed.
func TestGuardRefusedEnd(t *testing.T) {
	for verb, refusal := range map[string]uint16{"ROLLBACK": 1047, "COMMIT": 1290} {
		for _, guarded := range []bool{true, false} {
			for _, kind := range []string{"pool", "conn"} {
				t.Run(fmt.Sprint(verb, " ", kind, " guarded ", guarded), func(t *testing.T) {
					plain, dsn := floortest.Accounts(t)
					r := &floortest.Refusing{Connector: floortest.Connector(t, dsn), Verb: verb, Number: refusal}
					db := floortest.PoolOf(t, r, guarded)
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
					dbtest.Exec(t, tx, floortest.Add, 1)
					end := tx.Rollback
					if verb == "COMMIT" {
						end = tx.Commit
					}
					if err := end(); mysqlerr.Number(err) != refusal {
						t.Errorf("%s: %v", verb, err)
					}
					r.Verb = ""
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
					floortest.WantBalances(t, plain, want)
				})
			}
		}
	}
}

// TestGuardUnendedText: what was begun as text on a session, and not ended or not with the server's consent,
// is not there for the next one.
func TestGuardUnendedText(t *testing.T) {
	plain, dsn := floortest.Accounts(t)
	for name, texts := range map[string][]string{
		"COMMIT is refused": {"BEGIN", "COMMIT"},
		"forgotten":         {"START TRANSACTION"},
		"autocommit":        {"SET autocommit = 0"},
	} {
		r := &floortest.Refusing{Connector: floortest.Connector(t, dsn), Verb: "COMMIT", Number: 1317}
		db := floortest.PoolOf(t, r, true)
		db.SetMaxOpenConns(1)
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		dbtest.Exec(t, conn, texts[0])
		dbtest.Exec(t, conn, floortest.Add, 1)
		for _, text := range texts[1:] {
			if _, err := conn.ExecContext(t.Context(), text); mysqlerr.Number(err) != 1317 {
				t.Error(name, err)
			}
		}
		_ = conn.Close() //nolint:errcheck // it may be closed already, which is the point
		r.Verb = ""
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		dbtest.Exec(t, tx, floortest.Add, 2)
		if err := tx.Rollback(); err != nil {
			t.Fatal(name, err)
		}
		floortest.WantBalances(t, plain, "0,0")
	}
}

// TestGuardOtherServer: a session of a server that does not take writes any more does nothing but ROLLBACK,
// and is not used again; in autocommit too.
func TestGuardOtherServer(t *testing.T) {
	plain, dsn := floortest.Accounts(t)
	for _, refusal := range []uint16{1047, 1290, 1792, 1836} {
		t.Run(fmt.Sprint(refusal), func(t *testing.T) {
			r := &floortest.Refusing{Connector: floortest.Connector(t, dsn), Number: refusal}
			db := floortest.PoolOf(t, r, true)
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
			dbtest.Exec(t, tx, floortest.Add, 1)
			r.Verb = "DO 1"
			if _, err := tx.ExecContext(ctx, "DO 1"); mysqlerr.Number(err) != refusal {
				t.Fatal(err)
			}
			r.Verb = ""
			_, err = tx.ExecContext(ctx, floortest.Add, 2)
			wantLost(t, "Exec", err, refusal)
			wantLost(t, "Commit", tx.Commit(), refusal)
			floortest.WantBalances(t, plain, "0,0")
			inBetween := session()
			r.Verb = "DO 1"
			if _, err := db.ExecContext(ctx, "DO 1"); mysqlerr.Number(err) != refusal {
				t.Fatal(err)
			}
			r.Verb = ""
			if after := session(); before == inBetween || inBetween == after {
				t.Errorf("sessions %d, %d, %d: one was used again", before, inBetween, after)
			}
		})
	}
	// A real one.
	db := floortest.Pools(t, dsn)["guarded"]
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), floortest.Add, 1); mysqlerr.Number(err) != 1792 {
		t.Errorf("%v", err)
	}
	wantLost(t, "Commit", tx.Commit(), 1792)
}

// TestGuardCosts: the same statements with and without the guard, on the way that goes well and with an error
// that ends nothing.
func TestGuardCosts(t *testing.T) {
	_, dsn := floortest.Accounts(t)
	logs := map[bool]crashtest.Log{}
	for _, guarded := range []bool{true, false} {
		counted := crashtest.Wrap(floortest.Connector(t, dsn))
		db := floortest.PoolOf(t, counted, guarded)
		db.SetMaxOpenConns(1)
		log, err := crashtest.Count(counted, func() error {
			ctx := t.Context()
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			dbtest.Exec(t, tx, floortest.Add, 1)
			if _, err := tx.ExecContext(ctx, "INSERT INTO account VALUES (1, 0)"); mysqlerr.Number(err) != 1062 {
				t.Errorf("%v", err)
			}
			stmt, err := tx.PrepareContext(ctx, floortest.Add)
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
