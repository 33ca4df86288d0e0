package onerow_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/pool"
)

var errBusiness = errors.New("no")

// TestHandles: what can begin gets a transaction of its own, committed or rolled back here; what is a
// transaction is joined.
func TestHandles(t *testing.T) {
	db, _ := floortest.Accounts(t)
	ctx := t.Context()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	x := sqlx.NewDb(db, "mysql")
	xconn, err := x.Connx(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(conn.Close(), xconn.Close()); err != nil {
			t.Error(err)
		}
	})
	for name, h := range map[string]onerow.DB{"sql.DB": db, "sql.Conn": conn, "sqlx.DB": x, "sqlx.Conn": xconn} {
		t.Run(name, func(t *testing.T) {
			dbtest.Exec(t, db, "UPDATE account SET balance = 0")
			for _, want := range []error{nil, errBusiness} {
				err := onerow.InTx(ctx, h, func(ctx context.Context, tx *onerow.Tx) error {
					if tx.Joined() {
						t.Error("joined")
					}
					dbtest.Exec(t, tx, floortest.Add, 1)
					if want == nil {
						floortest.WantBalances(t, db, "0,0") // it is not in autocommit
					}
					return want
				})
				if !errors.Is(err, want) {
					t.Fatal(err)
				}
				floortest.WantBalances(t, db, "1,0")
			}
		})
	}

	begin := map[string]func() (onerow.DB, interface{ Rollback() error }, error){
		"sql.Tx": func() (onerow.DB, interface{ Rollback() error }, error) {
			tx, err := db.BeginTx(ctx, nil)
			return tx, tx, err
		},
		"sqlx.Tx": func() (onerow.DB, interface{ Rollback() error }, error) {
			tx, err := x.BeginTxx(ctx, nil)
			return tx, tx, err
		},
	}
	for name, open := range begin {
		t.Run(name, func(t *testing.T) {
			dbtest.Exec(t, db, "UPDATE account SET balance = 0")
			h, end, err := open()
			if err != nil {
				t.Fatal(err)
			}
			runs := 0
			for _, want := range []error{nil, errBusiness, &mysql.MySQLError{Number: 1205}} { // an error does not end somebody else's transaction
				err = onerow.InTx(ctx, h, func(ctx context.Context, tx *onerow.Tx) error {
					runs++
					if !tx.Joined() {
						t.Error("not joined")
					}
					dbtest.Exec(t, tx, floortest.Add, 1)
					return want
				})
				if !errors.Is(err, want) || want == nil && err != nil {
					t.Fatal(err)
				}
			}
			if runs != 3 {
				t.Errorf("%d runs: a joined transaction was run again", runs)
			}
			floortest.WantBalances(t, h, "3,0")
			floortest.WantBalances(t, db, "0,0")
			if err := end.Rollback(); err != nil {
				t.Fatal(err)
			}
			floortest.WantBalances(t, db, "0,0")
		})
	}

	t.Run("onerow.Tx", func(t *testing.T) {
		dbtest.Exec(t, db, "UPDATE account SET balance = 0")
		err := onerow.InTx(ctx, db, func(ctx context.Context, outer *onerow.Tx) error {
			dbtest.Exec(t, outer, floortest.Add, 1)
			err := onerow.InTx(ctx, outer, func(ctx context.Context, inner *onerow.Tx) error {
				dbtest.Exec(t, inner, floortest.Add, 2)
				if !inner.Joined() || outer.Joined() {
					t.Error("who is joined?")
				}
				return onerow.InTx(ctx, inner, func(ctx context.Context, innermost *onerow.Tx) error {
					dbtest.Exec(t, innermost, floortest.Add, 2)
					return errBusiness
				})
			})
			if !errors.Is(err, errBusiness) {
				t.Error(err)
			}
			return nil // the outer one may go on after a business error
		})
		if err != nil {
			t.Fatal(err)
		}
		floortest.WantBalances(t, db, "1,2")
	})

	if err := onerow.InTx(ctx, neither{db}, nil); !errors.Is(err, onerow.ErrNoTransaction) {
		t.Error(err)
	}
}

// neither can begin a transaction nor is it one.
type neither struct{ onerow.DB }

// TestRealDeadlock: two transactions that lock two rows in opposite orders. The server rolls one of them
// back; it runs again, and both are there in the end.
func TestRealDeadlock(t *testing.T) {
	db, _ := floortest.Accounts(t)
	var both sync.WaitGroup
	both.Add(2)
	runs := make(chan int, 100)
	errs := make(chan error, 2)
	for first := 1; first <= 2; first++ {
		go func() {
			var once sync.Once
			errs <- onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
				runs <- first
				if _, err := tx.ExecContext(ctx, floortest.Add, first); err != nil {
					return err
				}
				once.Do(func() { both.Done(); both.Wait() }) // each has its first row
				_, err := tx.ExecContext(ctx, floortest.Add, 3-first)
				return err
			})
		}()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if len(runs) < 3 {
		t.Errorf("%d runs: there was no deadlock", len(runs))
	}
	floortest.WantBalances(t, db, "2,2")
}

// TestPoisoned: after a real 1213 the transaction is gone, and a statement on it would be committed at once.
// The Tx refuses, on every level, whatever the function makes of the error; a joined transaction is told that
// it may run again.
func TestPoisoned(t *testing.T) {
	db, _ := floortest.Accounts(t)
	ctx := t.Context()
	attempts := 0
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		attempts++
		if attempts > 1 {
			return nil
		}
		first := deadlock(t, db, tx)
		if !onerow.Retryable(first) {
			t.Errorf("%v: not retryable", first)
		}
		_, err := tx.ExecContext(ctx, floortest.Add, 1)
		if !errors.Is(err, onerow.ErrTxPoisoned) || !errors.Is(err, first) || !onerow.Retryable(err) {
			t.Errorf("%v", err)
		}
		if _, err := tx.QueryContext(ctx, "SELECT 1"); !errors.Is(err, onerow.ErrTxPoisoned) { //nolint:rowserrcheck,sqlclosecheck // there are none
			t.Errorf("%v", err)
		}
		if err := onerow.InTx(ctx, tx, func(context.Context, *onerow.Tx) error { t.Error("it was run"); return nil }); !errors.Is(err, onerow.ErrTxPoisoned) {
			t.Errorf("%v", err)
		}
		return nil // it forgets to return the error
	})
	if err != nil || attempts != 2 {
		t.Fatalf("%v after %d attempts: a lost transaction passed for a committed one", err, attempts)
	}
	dbtest.Exec(t, db, "UPDATE account SET balance = 0")

	// The same within a nested call, and in a transaction that is joined.
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // the server has rolled it back
	err = onerow.InTx(ctx, tx, func(ctx context.Context, outer *onerow.Tx) error {
		err := onerow.InTx(ctx, outer, func(ctx context.Context, inner *onerow.Tx) error { return deadlock(t, db, inner) })
		if _, again := outer.ExecContext(ctx, floortest.Add, 1); !errors.Is(again, onerow.ErrTxPoisoned) {
			t.Errorf("%v", again)
		}
		return err
	})
	var my *mysql.MySQLError
	if !onerow.Retryable(err) || !errors.As(err, &my) || my.Number != 1213 {
		t.Errorf("%v", err)
	}
}

// deadlock makes tx the victim of a real one: the other has written more, so it is the cheaper one to roll
// back.
func deadlock(t *testing.T, db *sql.DB, tx *onerow.Tx) error {
	t.Helper()
	ctx := t.Context()
	dbtest.Exec(t, db, "INSERT IGNORE INTO account VALUES (3,0), (4,0), (5,0), (6,0), (7,0), (8,0), (9,0)")
	other, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, other, "UPDATE account SET balance = balance + 1 WHERE id > 1")
	dbtest.Exec(t, tx, floortest.Add, 1)
	done := make(chan error, 1)
	go func() {
		_, err := other.ExecContext(ctx, floortest.Add, 1) // waits for tx
		done <- errors.Join(err, other.Rollback())
	}()
	// Whoever closes the circle is told, or is the cheaper one; in either order tx is the victim.
	_, err = tx.ExecContext(ctx, floortest.Add, 2)
	if otherErr := <-done; otherErr != nil {
		t.Fatalf("the other one was the victim: %v", otherErr)
	}
	var my *mysql.MySQLError
	if !errors.As(err, &my) || my.Number != 1213 {
		t.Fatalf("no deadlock: %v", err)
	}
	return err
}

// TestRowsPoison: a refusal that arrives with the rows counts as well.
func TestRowsPoison(t *testing.T) {
	db, _ := floortest.Accounts(t, dbtest.Param("innodb_lock_wait_timeout", "1"))
	attempts := 0
	err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		if attempts++; attempts > 1 {
			return nil
		}
		var session int64
		if err := onerow.QueryRow(ctx, tx, "SELECT CONNECTION_ID()", nil, &session); err != nil {
			return err
		}
		dbtest.Exec(t, db, fmt.Sprintf("KILL CONNECTION %d", session))
		err := onerow.QueryRow(ctx, tx, "SELECT id FROM account FOR UPDATE", nil, &session)
		if err == nil || !onerow.Retryable(err) {
			t.Errorf("%v", err)
		}
		if _, err := tx.ExecContext(ctx, floortest.Add, 1); !errors.Is(err, onerow.ErrTxPoisoned) {
			t.Errorf("%v", err)
		}
		return err
	})
	if err != nil || attempts != 2 {
		t.Fatalf("%v, %d attempts", err, attempts)
	}
}

// TestRowsPoisonAfterTheFirst: a refusal that arrives behind rows counts too, though the caller has what it
// wanted and swallows it; what follows would be in autocommit if the server had rolled back.
func TestRowsPoisonAfterTheFirst(t *testing.T) {
	db, _ := floortest.Accounts(t, dbtest.Param("innodb_lock_wait_timeout", "1"))
	other, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ExecContext(t.Context(), floortest.Add, 2); err != nil {
		t.Fatal(err)
	}
	err = onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		read := 0
		err := onerow.Query(ctx, tx, "SELECT id FROM account ORDER BY id FOR UPDATE", nil, func(*sql.Rows) error { read++; return nil })
		if err == nil || read != 1 {
			t.Errorf("%d rows, %v: the second row is locked, the first is not", read, err)
		}
		if _, err := tx.ExecContext(ctx, floortest.Add, 1); !errors.Is(err, onerow.ErrTxPoisoned) {
			t.Errorf("behind an error of the rows: %v", err)
		}
		return errBusiness
	})
	if !errors.Is(err, errBusiness) {
		t.Error(err)
	}
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	floortest.WantBalances(t, db, "0,0")
}

// TestLockWaitTimeout runs again until the other one is gone, and does not go on for ever.
func TestLockWaitTimeout(t *testing.T) {
	t.Parallel()
	db, _ := floortest.Accounts(t, dbtest.Param("innodb_lock_wait_timeout", "1"))
	other, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, other, floortest.Add, 1)
	attempts := 0
	err = onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		attempts++
		_, err := tx.ExecContext(ctx, floortest.Add, 1)
		if attempts == 1 {
			err = errors.Join(err, other.Rollback())
		}
		return err
	})
	if err != nil || attempts != 2 {
		t.Fatalf("%v, %d attempts", err, attempts)
	}
	floortest.WantBalances(t, db, "1,0")

	attempts = 0
	refused := &mysql.MySQLError{Number: 1213, Message: "always"}
	err = onerow.InTx(t.Context(), db, func(context.Context, *onerow.Tx) error { attempts++; return refused })
	if attempts != 20 || !errors.Is(err, refused) || !onerow.Retryable(err) || !strings.Contains(err.Error(), "gave up after 20 attempts") {
		t.Errorf("%v after %d attempts", err, attempts)
	}
}

// TestForeignErrors: an error of a file or of a call to elsewhere is no reason to run the function again, and
// no reason for a transaction that it is a part of to count as rolled back.
func TestForeignErrors(t *testing.T) {
	db, _ := floortest.Accounts(t)
	for _, foreign := range []error{io.EOF, io.ErrUnexpectedEOF, &net.OpError{Op: "dial", Net: "tcp", Err: errBusiness}} {
		runs := 0
		err := onerow.InTx(t.Context(), db, func(context.Context, *onerow.Tx) error { runs++; return foreign })
		if !errors.Is(err, foreign) || runs != 1 {
			t.Errorf("%v: %d runs, %v", foreign, runs, err)
		}
		err = onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
			if err := onerow.InTx(ctx, tx, func(context.Context, *onerow.Tx) error { return foreign }); !errors.Is(err, foreign) {
				t.Errorf("joined: %v", err)
			}
			if err := onerow.Query(ctx, tx, "SELECT id FROM account", nil, func(*sql.Rows) error { return foreign }); !errors.Is(err, foreign) {
				t.Errorf("scan: %v", err)
			}
			_, err := tx.ExecContext(ctx, floortest.Add, 1)
			return err
		})
		if err != nil {
			t.Errorf("after %v in a part of it: %v", foreign, err)
		}
	}
	floortest.WantBalances(t, db, "3,0")
}

// TestSwallowed: a function that returns nil after the server rolled the caller's transaction back is not
// believed.
func TestSwallowed(t *testing.T) {
	db, _ := floortest.Accounts(t)
	own, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = onerow.InTx(t.Context(), own, func(_ context.Context, tx *onerow.Tx) error {
		if err := deadlock(t, db, tx); !onerow.Retryable(err) {
			t.Errorf("no deadlock: %v", err)
		}
		return nil
	})
	if !onerow.Retryable(err) || !errors.Is(err, onerow.ErrTxPoisoned) {
		t.Errorf("swallowed: %v", err)
	}
	if err := own.Rollback(); err != nil {
		t.Fatal(err)
	}
}

// TestOpenKeeps: what the data source name says itself wins over the recommended settings.
func TestOpenKeeps(t *testing.T) {
	for param, want := range map[string]string{"": "READ-COMMITTED", "transaction_isolation='SERIALIZABLE'": "SERIALIZABLE"} {
		dsn := dbtest.DSN(t)
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Params, cfg.InterpolateParams = nil, false
		dsn = cfg.FormatDSN()
		variable := "transaction_isolation"
		if dbtest.Server(t).Engine() == devdb.MariaDB {
			variable = "tx_isolation"
		}
		if param != "" {
			sep := "?"
			if strings.Contains(dsn, "?") {
				sep = "&"
			}
			dsn += sep + variable + "=%27SERIALIZABLE%27"
		}
		db, err := pool.Open(dsn)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := onerow.QueryRow(t.Context(), db, "SELECT @@"+variable, nil, &got); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", param, got, err, want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPanic: it passes, and the transaction is rolled back and its connection returned.
func TestPanic(t *testing.T) {
	db, _ := floortest.Accounts(t)
	db.SetMaxOpenConns(1)
	func() {
		defer func() {
			if r := recover(); r != "ouch" {
				t.Errorf("recovered %v", r)
			}
		}()
		err := onerow.InTx(t.Context(), db, func(_ context.Context, tx *onerow.Tx) error {
			dbtest.Exec(t, tx, floortest.Add, 1)
			panic("ouch")
		})
		t.Errorf("it returned %v", err)
	}()
	floortest.WantBalances(t, db, "0,0")
}

// TestQuery holds the helpers: no row, one row, a scan that fails, the number of rows with either meaning of
// the driver.
func TestQuery(t *testing.T) {
	for _, found := range []string{"true", "false"} {
		db, _ := floortest.Accounts(t, dbtest.Param("clientFoundRows", found))
		db.SetMaxOpenConns(1) // whoever keeps rows open hangs here
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var id int
		if err := onerow.QueryRow(ctx, db, "SELECT id FROM account WHERE id = ?", []any{9}, &id); !errors.Is(err, sql.ErrNoRows) {
			t.Error(err)
		}
		if err := onerow.QueryRow(ctx, db, "SELECT id FROM account ORDER BY id DESC", nil, &id); err != nil || id != 2 {
			t.Error(id, err)
		}
		if err := onerow.QueryRow(ctx, db, "SELECT id, balance FROM account", nil, &id); err == nil {
			t.Error("two columns into one variable")
		}
		if err := onerow.Query(ctx, db, "SELECT id FROM account", nil, func(*sql.Rows) error { return errBusiness }); !errors.Is(err, errBusiness) {
			t.Error(err)
		}
		if err := onerow.Query(ctx, db, "SELECT nonsense", nil, nil); err == nil {
			t.Error("nonsense")
		}
		if n, err := onerow.Affected(ctx, db, floortest.Add+" OR id = ?", 1, 2); err != nil || n != 2 {
			t.Error(n, err)
		}
		if _, err := onerow.Affected(ctx, db, "nonsense"); err == nil {
			t.Error("nonsense")
		}
	}
}
