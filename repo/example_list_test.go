package repo_test

import (
	"context"
	"fmt"
	"log"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// What a page of a search shows: how many there are, up to a bound, and those whose names begin so.
func ExampleOf_ListByName() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx) // onerow.Open("user:password@tcp(host:3306)/app")
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
	for _, name := range []string{"Émile", "email  campaign", "Attic", "Email"} {
		if _, err := projects.Create(ctx, db, Project{UserID: 7, Name: name}); err != nil {
			log.Fatal(err)
		}
	}

	n, err := projects.Count(ctx, db, 7, repo.PageOptions{}, 500)
	fmt.Println(n, err)
	var next repo.Cursor
	for {
		page, err := projects.ListByName(ctx, db, 7, "EM", repo.PageOptions{After: next, Limit: 1})
		if err != nil {
			log.Fatal(err)
		}
		for _, p := range page.Items {
			fmt.Println(p.Name)
		}
		if next = page.Next; next == "" {
			break
		}
	}

	// Output:
	// 4 <nil>
	// Email
	// email  campaign
}
