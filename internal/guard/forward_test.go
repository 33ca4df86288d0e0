package guard_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
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

// bareConnector hides of the driver's sessions that they take contexts, as an old driver would.
type bareConnector struct{ driver.Connector }

func (b bareConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := b.Connector.Connect(ctx)
	return struct{ driver.Conn }{conn}, err
}

// TestGuardOldDriver: a session whose driver takes no contexts is refused and closed.
func TestGuardOldDriver(t *testing.T) {
	_, dsn := floortest.Accounts(t)
	db := floortest.PoolOf(t, bareConnector{floortest.Connector(t, dsn)}, true)
	if err := db.PingContext(t.Context()); err == nil || !strings.Contains(err.Error(), "whose driver takes contexts") {
		t.Error(err)
	}
	if n := db.Stats().OpenConnections; n != 0 {
		t.Errorf("%d sessions", n)
	}
}
