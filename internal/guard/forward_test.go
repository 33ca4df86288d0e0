package guard_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
)

// TestGuardForwards: what the driver offers beside the least is there with the guard, in a transaction and
// outside of one: types of columns, several results, arguments that the driver converts, statements without a
// prepare.
func TestGuardForwards(t *testing.T) {
	for _, params := range []string{"multiStatements=true", "multiStatements=true&interpolateParams=true"} {
		said := map[bool]string{}
		for _, guarded := range []bool{true, false} {
			db := floortest.PoolOf(t, floortest.Connector(t, floortest.Bare(t, params)), guarded)
			dbtest.Exec(t, db, "CREATE TABLE account (id BIGINT UNSIGNED PRIMARY KEY, balance DECIMAL(9,2) NULL, note VARCHAR(20)) ENGINE=InnoDB")
			dbtest.Exec(t, db, "INSERT INTO account VALUES (?, 1.5, 'x')", ^uint64(0))
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			said[guarded] = describe(t, db) + describe(t, tx)
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
		}
		if said[true] != said[false] || len(said[true]) < 100 {
			t.Errorf("with the guard:\n%s\nwithout:\n%s", said[true], said[false])
		}
	}
}

func describe(t *testing.T, db onerow.DB) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM account; SELECT 2 AS two")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // read to the end
	text := ""
	for more := true; more; more = rows.NextResultSet() {
		types, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range types {
			length, hasLength := c.Length()
			nullable, knowsNull := c.Nullable()
			precision, scale, decimal := c.DecimalSize()
			text += fmt.Sprintln(c.Name(), c.DatabaseTypeName(), c.ScanType(), length, hasLength, nullable, knowsNull, precision, scale, decimal)
		}
		for rows.Next() {
			values := make([]any, len(types))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				text += fmt.Sprintf("%s ", *v.(*any))
			}
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestGuardNeverSent: COMMIT is not sent when the rows of a query said that the connection is lost, so InTx
// knows that nothing was committed, though its function said nothing.
func TestGuardNeverSent(t *testing.T) {
	plain, dsn := floortest.Accounts(t)
	dbtest.Exec(t, plain, "INSERT INTO account VALUES (3, 0)"+rowsFrom(4, highest, "(%d, 0)"))
	db := floortest.Pools(t, dsn)["guarded"]
	holder, err := plain.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Rollback() //nolint:errcheck // it wrote nothing
	dbtest.Exec(t, holder, "SELECT id FROM account WHERE id = ? FOR UPDATE", highest)
	attempts := 0
	err = onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		if attempts++; attempts > 1 {
			return nil
		}
		dbtest.Exec(t, tx, floortest.Add, 1)
		var session int64
		if err := onerow.QueryRow(ctx, tx, "SELECT CONNECTION_ID()", nil, &session); err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, "SELECT id, REPEAT('x', 1000) FROM account FOR UPDATE") //nolint:sqlclosecheck // it is closed
		if err != nil {
			return err
		}
		dbtest.Exec(t, plain, fmt.Sprintf("KILL CONNECTION %d", session))
		for rows.Next() {
		}
		if err := errors.Join(rows.Err(), rows.Close()); err == nil {
			t.Error("the connection was not lost")
		}
		return nil // it forgets to say so
	})
	if err != nil || attempts != 2 {
		t.Errorf("%v after %d attempts", err, attempts)
	}
	floortest.WantTwo(t, plain, "0,0")
}

// BenchmarkGuard is a transaction of two statements, with the guard and without.
func BenchmarkGuard(b *testing.B) {
	_, dsn := floortest.Accounts(b)
	for _, guarded := range []bool{false, true} {
		b.Run(fmt.Sprintf("guarded=%v", guarded), func(b *testing.B) {
			cfg, err := mysql.ParseDSN(dsn)
			if err != nil {
				b.Fatal(err)
			}
			db := floortest.PoolOf(b, floortest.Connector(b, cfg.FormatDSN()), guarded)
			b.ReportAllocs()
			for b.Loop() {
				if err := twoStatements(b.Context(), db); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func twoStatements(ctx context.Context, db *sql.DB) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	if err := tx.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = ?", 1).Scan(new(int)); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, floortest.Add, 1)
	return err
}

// oldConn is a session of a driver that knows no contexts: the guard does for it what database/sql would.
type oldConn struct {
	driver.Conn
	after func(driver.Conn) // what happens meanwhile
	open  *atomic.Int64     // prepared statements
}

func (c oldConn) Prepare(query string) (driver.Stmt, error) {
	s, err := c.Conn.Prepare(query)
	if err == nil {
		c.open.Add(1)
		c.after(c.Conn)
	}
	return oldStmt{s, c.open}, err
}

func (c oldConn) Begin() (driver.Tx, error) {
	tx, err := c.Conn.Begin() //nolint:staticcheck // what old drivers have
	if err == nil {
		c.after(c.Conn)
	}
	return tx, err
}

type oldStmt struct {
	driver.Stmt
	open *atomic.Int64
}

func (s oldStmt) Close() error {
	s.open.Add(-1)
	return s.Stmt.Close()
}

type oldConnector struct {
	driver.Connector
	after func(driver.Conn)
	open  *atomic.Int64
}

func (c oldConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	return oldConn{conn, c.after, c.open}, err
}

// TestGuardOldDriver: where the context ends while such a driver prepares or begins, what it made is closed,
// not left on a session that goes back to the pool.
func TestGuardOldDriver(t *testing.T) {
	plain, dsn := floortest.Accounts(t)
	var cancel context.CancelFunc
	var open atomic.Int64
	after := func(driver.Conn) { cancel() }
	db := floortest.PoolOf(t, oldConnector{floortest.Connector(t, dsn), func(c driver.Conn) { after(c) }, &open}, true)
	db.SetMaxOpenConns(1)
	var ctx context.Context
	ctx, cancel = context.WithCancel(t.Context())
	if _, err := db.PrepareContext(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) || open.Load() != 0 {
		t.Errorf("%v, %d statements are left", err, open.Load())
	}
	ctx, cancel = context.WithCancel(t.Context())
	after = func(c driver.Conn) {
		if _, err := c.(driver.ExecerContext).ExecContext(t.Context(), "UPDATE account SET balance = balance + 1 WHERE id = 1", nil); err != nil {
			t.Error(err)
		}
		cancel()
	}
	if _, err := db.BeginTx(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("begun: %v", err)
	}
	dbtest.Exec(t, plain, "SELECT balance FROM account WHERE id = 1 FOR UPDATE NOWAIT")
	if n := db.Stats().OpenConnections; n != 1 {
		t.Errorf("%d sessions", n)
	}
}
