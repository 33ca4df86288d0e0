package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/onerow/onerow/internal/devdb"
)

// ExampleDB is a schema for a godoc example, which has no [testing.TB], on the server that the tests use.
// done drops it.
func ExampleDB(ctx context.Context, setup ...func(context.Context, *sql.DB) error) (db *sql.DB, done func()) {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	server, err := devdb.Start(ctx, devdb.Options{})
	check(err)
	name := fmt.Sprintf("onerow_t_%d_example", os.Getpid())
	check(server.CreateDatabase(ctx, name))
	db, err = sql.Open("mysql", server.DSN(name))
	check(err)
	for _, fn := range setup {
		check(fn(ctx, db))
	}
	return db, func() { check(errors.Join(server.DropDatabase(ctx, name), db.Close(), server.Close())) }
}
