package repo_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// A project is given to another user, who has one of that name. Where it goes may be decided by the row, which
// is locked then.
func ExampleOf_Move() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx) // pool.Open("user:password@tcp(host:3306)/app")
	defer done()

	type Project struct {
		ID     int64  `db:"id"`
		UserID int64  `db:"user_id"`
		Name   string `db:"name"`
	}
	plan := schema.Plan{Resources: []schema.Resource{{Name: "project", Owner: "user_id", Label: schema.Label{Column: "name"}}}}
	if err := migrations.Up(ctx, db); err != nil {
		log.Fatal(err)
	}
	for _, stmt := range plan.DDL() {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			log.Fatal(err)
		}
	}
	projects, err := repo.New[Project](plan, "project")
	if err != nil {
		log.Fatal(err)
	}
	mine, err := projects.Create(ctx, db, Project{UserID: 7, Name: "Email Campaign"})
	if err == nil {
		_, err = projects.Create(ctx, db, Project{UserID: 8, Name: "Email Campaign"})
	}
	if err != nil {
		log.Fatal(err)
	}

	errNotMine := errors.New("it is not mine to give")
	give := func(from, to int64) func(*Project) error {
		return func(p *Project) error {
			if p.UserID != from && p.UserID != to {
				return errNotMine
			}
			p.UserID = to
			return nil
		}
	}
	for range 2 { // a repeat finds it there
		res, err := projects.Move(ctx, db, mine.Row.ID, give(7, 8))
		fmt.Println(res.Row.UserID, res.Row.Name, res.Changed, err)
	}
	_, err = projects.Move(ctx, db, mine.Row.ID, give(7, 9))
	fmt.Println(errors.Is(err, errNotMine))

	// Output:
	// 8 Email Campaign (Copy 1) true <nil>
	// 8 Email Campaign (Copy 1) false <nil>
	// true
}
