// Command first is the program on the README's first page; it wants an empty
// database:
//
//	go run -C examples ./first 'user:password@tcp(127.0.0.1:3306)/app'
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type project struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
}

var plan = schema.Plan{Resources: []schema.Resource{{
	Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
}}}

func main() {
	ctx := context.Background()
	db, err := pool.Open(os.Args[1]) // user:password@tcp(127.0.0.1:3306)/app
	check(err)
	check(migrations.Up(ctx, db))      // onerow's own tables, onerow_…
	for _, table := range plan.DDL() { // yours, from the declaration
		_, err = db.ExecContext(ctx, table)
		check(err)
	}
	projects, err := repo.New[project](plan, "project")
	check(err)
	email := project{UserID: 7, Name: "Email Campaign"}
	for range 2 { // a retry with the same request id gets the same row
		res, err := projects.Create(ctx, db, email, repo.RequestID("c0ffee"))
		fmt.Println(res.Row.ID, res.Replayed, err)
	}
	_, err = projects.Create(ctx, db, project{UserID: 7, Name: "EMAIL  campaign"})
	fmt.Println(errors.Is(err, repo.ErrNameTaken)) // the unique index says so, not a read before the write
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
