package repo_test

import (
	"context"
	"fmt"
	"log"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// topic stands for a message broker, which keeps what is published until somebody has taken it.
type topic chan queue.Deletion

// Publish is called after the deletion was logged and before the row goes: with an error nothing is deleted.
func (t topic) Publish(_ context.Context, d queue.Deletion) error {
	t <- d
	return nil
}

// A delete hands its cascade to a broker; whoever takes the message queues the job, in this database or in
// the one where the children are. A message that comes twice changes nothing.
func ExampleWithPublisher() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx) // sql.Open("mysql", "user:password@tcp(host:3306)/app")
	defer done()

	type Project struct {
		ID     int64  `db:"id"`
		UserID int64  `db:"user_id"`
		Name   string `db:"name"`
	}
	plan := schema.Plan{Resources: []schema.Resource{{
		Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
	}}}
	if err := migrations.Up(ctx, db); err != nil {
		log.Fatal(err)
	}
	for _, stmt := range plan.DDL() {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			log.Fatal(err)
		}
	}
	deletions := make(topic, 1)
	projects, err := repo.New[Project](plan, "project", repo.WithPublisher(deletions))
	if err != nil {
		log.Fatal(err)
	}
	res, err := projects.Create(ctx, db, Project{UserID: 7, Name: "Email Campaign"})
	if err != nil {
		log.Fatal(err)
	}
	del, err := projects.Delete(ctx, db, res.Row.ID)
	fmt.Println(del.Changed, del.JobID, err)

	d := <-deletions
	for range 2 { // delivered twice
		job, err := queue.Enqueue(ctx, db, d)
		fmt.Println(job.State, d.Resource, err)
	}
	// Output:
	// true 0 <nil>
	// ready project <nil>
	// ready project <nil>
}
