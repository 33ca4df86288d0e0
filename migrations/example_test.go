package migrations_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
)

// The toolkit's migrations, and beside them those of the application.
func ExampleNew() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx) // sql.Open("mysql", "user:password@tcp(host:3306)/app")
	defer done()

	if err := migrations.Up(ctx, db); err != nil {
		log.Fatal(err)
	}
	toolkit, err := migrations.New(db, migrations.FS, migrations.TableName) // what goose can do besides
	if err != nil {
		log.Fatal(err)
	}
	pending, err := toolkit.HasPending(ctx)
	fmt.Println(pending, err)

	files := fstest.MapFS{"00001_note.sql": { // in an application: an embed.FS
		Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\nCREATE TABLE IF NOT EXISTS note (id INT PRIMARY KEY);\n"),
	}}
	own, err := migrations.New(db, files, "app_version")
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		applied, err := own.Up(ctx)
		fmt.Println(len(applied), err)
	}
	// Output:
	// false <nil>
	// 1 <nil>
	// 0 <nil>
}
