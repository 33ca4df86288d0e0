package onerowtest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// Main runs the tests of a package, stops the server if they started one, and exits. It is for TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if err := dbtest.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "onerowtest: stopping the server:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// DB returns a pool, opened by [pool.Open], on a database of this test's own that has the toolkit's tables
// and those of the plan, all empty. The zero Plan has no tables. Statements in ddl run afterwards: CREATE
// TABLE for the application's own tables. The database is dropped when the test ends.
//
// Tables that are made from a plan fit it. To hold migrations of your own against it give the zero Plan,
// apply them, and call live.Verify.
func DB(t testing.TB, plan schema.Plan, ddl ...string) *sql.DB {
	t.Helper()
	return open(t, DSN(t, plan, ddl...))
}

// DSN makes the database that [DB] does, and returns its data source name: for a program that opens its pool
// itself.
func DSN(t testing.TB, plan schema.Plan, ddl ...string) string {
	t.Helper()
	return makeDatabase(t, plan, ddl)
}

// makeDatabase makes a database, with more parameters in its name.
func makeDatabase(t testing.TB, plan schema.Plan, ddl []string, params ...dbtest.Option) string {
	t.Helper()
	dsn := dbtest.DSN(t, params...)
	if err := setUp(t.Context(), open(t, dsn), plan, ddl); err != nil {
		t.Fatalf("onerowtest: %v", err)
	}
	return dsn
}

func open(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := pool.Open(dsn)
	if err != nil {
		t.Fatalf("onerowtest: %v", err)
	}
	db.SetMaxIdleConns(16) // database/sql keeps two, and parallel calls of a test would reconnect all the time
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("onerowtest: closing the pool: %v", err)
		}
	})
	return db
}

func setUp(ctx context.Context, db *sql.DB, plan schema.Plan, ddl []string) error {
	if len(plan.Nodes()) > 0 { // the zero Plan: the toolkit's tables only
		if err := plan.Check(); err != nil {
			return err
		}
	}
	if err := migrations.Up(ctx, db); err != nil {
		return err
	}
	if err := run(ctx, db, append(plan.DDL(), ddl...)); err != nil || len(plan.Kept()) == 0 {
		return err
	}
	tables, err := catalog.Read(ctx, db)
	if err != nil {
		return err
	}
	trash, err := tables.TrashDDL(plan)
	if err != nil {
		return err
	}
	return run(ctx, db, trash)
}

func run(ctx context.Context, db *sql.DB, statements []string) error {
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.60s…: %w", statement, err)
		}
	}
	return nil
}

// Example is [DB] for a godoc example, which has no [testing.TB]. done closes the pool, drops the database
// and stops the server if this call started it. It panics if there is no server.
func Example(plan schema.Plan, ddl ...string) (db *sql.DB, done func()) {
	ctx := context.Background()
	dsn, drop := dbtest.ExampleDSN(ctx)
	db, err := pool.Open(dsn)
	if err == nil {
		err = setUp(ctx, db, plan, ddl)
	}
	if err != nil {
		drop()
		panic(fmt.Errorf("onerowtest: %w", err))
	}
	return db, func() {
		if err := db.Close(); err != nil {
			panic(err)
		}
		drop()
	}
}
