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
	db, done := dbtest.ExampleDB(ctx) // pool.Open("user:password@tcp(host:3306)/app")
	defer done()

	type Ticket struct {
		ID          uuid.UUID `db:"id"`
		WorkspaceID int64     `db:"workspace_id"`
		Title       string    `db:"title"`
	}
	plan := schema.Plan{Resources: []schema.Resource{{
		Name: "ticket", IDType: "BINARY(16)", Owner: "workspace_id", Columns: []schema.Column{{Name: "title", Type: "VARCHAR(200) NOT NULL"}},
	}}}
	err := migrations.Up(ctx, db)
	for _, stmt := range plan.DDL() {
		_, ddlErr := db.ExecContext(ctx, stmt)
		err = errors.Join(err, ddlErr)
	}
	tickets, newErr := repo.NewOf[Ticket, uuid.UUID, int64](plan, "ticket")
	if err = errors.Join(err, newErr); err != nil {
		log.Fatal(err)
	}
	ticket := Ticket{ID: uuid.New(), WorkspaceID: 7, Title: "The printer is on fire"}
	for range 2 {
		res, err := tickets.Create(ctx, db, ticket)
		fmt.Println(res.Row.Title, res.Replayed, err)
	}
	_, err = tickets.Delete(ctx, db, ticket.ID)
	_, again := tickets.Create(ctx, db, ticket)
	fmt.Println(err, errors.Is(again, repo.ErrGone))

	// Output:
	// The printer is on fire false <nil>
	// The printer is on fire true <nil>
	// <nil> true
}
