package repo_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// What a page of a search shows: how many there are, up to a bound, and those whose names begin so.
func ExampleOf_ListByName() {
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
	for _, name := range []string{"Émile", "email  campaign", "Attic", "Email"} {
		if _, err := projects.Create(ctx, db, Project{UserID: 7, Name: name}); err != nil {
			log.Fatal(err)
		}
	}

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
	// Email
	// email  campaign
}

// A page of what is open, the latest first, archived rows among the others: the plan declares the index.
func ExampleOf_List() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx) // pool.Open("user:password@tcp(host:3306)/app")
	defer done()

	type Ticket struct {
		ID     int64        `db:"id"`
		UserID int64        `db:"user_id"`
		Title  string       `db:"title"`
		Status string       `db:"status"`
		DueAt  time.Time    `db:"due_at"`
		State  schema.State `db:"state"`
	}
	plan := schema.Plan{Resources: []schema.Resource{{
		Name: "ticket", Archive: "ticket_archive", Owner: "user_id",
		Columns: []schema.Column{{Name: "title", Type: "VARCHAR(80) NOT NULL"}, {Name: "status", Type: "VARCHAR(20) NOT NULL"}, {Name: "due_at", Type: "DATETIME(6) NULL"}},
		Indexes: []schema.Index{{Columns: []string{"user_id", "status", "due_at", "id"}, Archived: true}},
	}}}
	if err := migrations.Up(ctx, db); err != nil {
		log.Fatal(err)
	}
	for _, stmt := range plan.DDL() {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			log.Fatal(err)
		}
	}
	tickets, err := repo.New[Ticket](plan, "ticket")
	if err != nil {
		log.Fatal(err)
	}
	march := func(day int) time.Time { return time.Date(2030, 3, day, 0, 0, 0, 0, time.UTC) }
	for i, title := range []string{"lamp", "door", "window", "roof"} {
		made, err := tickets.Create(ctx, db, Ticket{UserID: 7, Title: title, Status: "open", DueAt: march(10 - 3*(i%3))})
		if err == nil && title == "door" {
			_, err = tickets.Archive(ctx, db, made.Row.ID)
		}
		if err != nil {
			log.Fatal(err)
		}
	}

	open := repo.PageOptions{
		Where: repo.Where{"status": "open"}, State: repo.AnyState, Limit: 2,
		Sort: repo.Sort{Column: "due_at", Descending: true, From: march(5)},
	}
	for {
		page, err := tickets.List(ctx, db, 7, open)
		if err != nil {
			log.Fatal(err)
		}
		for _, t := range page.Items {
			fmt.Println(t.Title, t.DueAt.Format(time.DateOnly), t.State)
		}
		if open.After = page.Next; page.Next == "" {
			break
		}
	}
	_, err = tickets.List(ctx, db, 7, repo.PageOptions{Sort: repo.Sort{Column: "title"}})
	fmt.Println(err)

	// Output:
	// roof 2030-03-10 active
	// lamp 2030-03-10 active
	// door 2030-03-07 archived
	// repo: list ticket: not supported by the resource: no index in the plan serves this list of the rows of "ticket"; add indexes: [{columns: [user_id, title, id]}]
}
