package repo_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/google/uuid"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// Tickets with UUIDs that the application makes: to repeat a create it takes no more than the id.
func ExampleNewOf() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx) // onerow.Open("user:password@tcp(host:3306)/app")
	defer done()

	type Ticket struct {
		ID          uuid.UUID `db:"id"`
		WorkspaceID int64     `db:"workspace_id"`
		Title       string    `db:"title"`
	}
	plan := schema.Plan{Resources: []schema.Resource{{
		Name: "ticket", IDType: "BINARY(16)", Owner: "workspace_id", Columns: []schema.Column{{Name: "title", Type: "VARCHAR(200) NOT NULL"}},
	}}}
	if err := migrations.Up(ctx, db); err != nil {
		log.Fatal(err)
	}
	for _, stmt := range plan.DDL() {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			log.Fatal(err)
		}
	}
	tickets, err := repo.NewOf[Ticket, uuid.UUID, int64](plan, "ticket")
	if err != nil {
		log.Fatal(err)
	}

	ticket := Ticket{ID: uuid.New(), WorkspaceID: 7, Title: "The printer is on fire"}
	for range 2 {
		res, err := tickets.Create(ctx, db, ticket)
		fmt.Println(res.Row.Title, res.Replayed, err)
	}
	if _, err := tickets.Delete(ctx, db, ticket.ID); err != nil {
		log.Fatal(err)
	}
	_, err = tickets.Create(ctx, db, ticket)
	fmt.Println(errors.Is(err, repo.ErrGone))

	// Output:
	// The printer is on fire false <nil>
	// The printer is on fire true <nil>
	// true
}
