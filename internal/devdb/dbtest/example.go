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
	dsn, drop := ExampleDSN(ctx)
	db, err := sql.Open("mysql", dsn)
	for _, fn := range setup {
		if err == nil {
			err = fn(ctx, db)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	return db, func() {
		if err := db.Close(); err != nil {
			log.Fatal(err)
		}
		drop()
	}
}

// ExampleDSN makes the schema of [ExampleDB] and returns its data source name. drop drops it, when no pool is
// open on it.
func ExampleDSN(ctx context.Context) (dsn string, drop func()) {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	server, err := devdb.Start(ctx, devdb.Options{})
	check(err)
	name := fmt.Sprintf("onerow_t_%d_example", os.Getpid())
	check(server.CreateDatabase(ctx, name))
	return server.DSN(name), func() { check(errors.Join(server.DropDatabase(ctx, name), server.Close())) }
}
