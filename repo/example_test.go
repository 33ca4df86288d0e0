package repo_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// A program from the declaration of a resource to a row that was archived and
// brought back under another name.
func Example() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx) // sql.Open("mysql", "user:password@tcp(host:3306)/app")
	defer done()

	type Project struct {
		ID     int64        `db:"id"`
		UserID int64        `db:"user_id"`
		Name   string       `db:"name"`
		State  schema.State `db:"state"`
	}
	plan := schema.Plan{Resources: []schema.Resource{{
		Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
	}}}
	if err := migrations.Up(ctx, db); err != nil {
		log.Fatal(err)
	}
	for _, stmt := range plan.DDL() { // in an application: a migration of its own
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			log.Fatal(err)
		}
	}
	projects, err := repo.New[Project](plan, "project")
	if err != nil {
		log.Fatal(err)
	}

	res, err := projects.Create(ctx, db, Project{UserID: 7, Name: "Email Campaign"}, repo.RequestID("c0ffee"))
	fmt.Println(res.Row.Name, res.Replayed, err)
	res, err = projects.Create(ctx, db, Project{UserID: 7, Name: "Email Campaign"}, repo.RequestID("c0ffee"))
	fmt.Println(res.Row.Name, res.Replayed, err)

	_, err = projects.Create(ctx, db, Project{UserID: 7, Name: "  EMAIL campaign"})
	var taken *repo.NameTakenError
	fmt.Println(errors.As(err, &taken), taken.ID == res.Row.ID)

	if _, err = projects.Archive(ctx, db, res.Row.ID); err != nil {
		log.Fatal(err)
	}
	if _, err = projects.Create(ctx, db, Project{UserID: 7, Name: "Email Campaign"}); err != nil {
		log.Fatal(err)
	}
	back, err := projects.Activate(ctx, db, res.Row.ID)
	fmt.Println(back.Row.Name, back.Row.State, err)

	// An id that came from outside: the owner is in the condition of each statement.
	_, err = projects.OwnedBy(8).Delete(ctx, db, res.Row.ID)
	fmt.Println(errors.Is(err, onerow.ErrNotFound))
	_, err = projects.OwnedBy(8).Create(ctx, db, Project{UserID: 7, Name: "Not mine"})
	fmt.Println(errors.Is(err, repo.ErrOtherOwner))

	del, err := projects.OwnedBy(7).Delete(ctx, db, res.Row.ID)
	fmt.Println(del.Changed, del.JobID != 0, err)
	del, err = projects.Delete(ctx, db, res.Row.ID)
	fmt.Println(del.Changed, del.JobID != 0, err)

	// Output:
	// Email Campaign false <nil>
	// Email Campaign true <nil>
	// true true
	// Email Campaign (Copy 1) active <nil>
	// true
	// true
	// true true <nil>
	// false true <nil>
}
