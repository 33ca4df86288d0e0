// Package deletion has the commands about one deletion: what would go (plan), that it goes (enqueue), that it
// does not (undo, cancel), and what comes back (restore, trash).
//
// Open this package when a command about one deletion changes.
package deletion

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/target"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// Enqueue queues the deletion of a row, or of many.
type Enqueue struct {
	shell.PlanFlag
	shell.ActorFlags
	Resource  string        `arg:"" optional:"" help:"The resource's or table's name in the plan, as in project."`
	ID        string        `arg:"" optional:"" name:"id" help:"The row's key: 42, a UUID, 0x00ff, text, or 101,1993-09-21 for several columns."`
	Where     string        `placeholder:"SQL" help:"Every row for which this condition holds; the row is t."`
	Query     string        `placeholder:"SQL" help:"Every row whose key this SELECT returns."`
	Grace     time.Duration `placeholder:"TIME" help:"Start no earlier than after this time, as in 30s."`
	NoTrash   bool          `name:"no-trash" help:"Keep nothing of what is deleted, though the plan has a trash: erasure."`
	MustExist bool          `name:"must-exist" help:"Fail where a row that is named is not there, instead of deleting what is left below it: for erasure."`
	DryRun    bool          `name:"dry-run" help:"Only say how many rows there are."`
}

// Validate tells one root from many.
func (c *Enqueue) Validate() error {
	ways := 0
	for _, way := range []string{c.ID, c.Where, c.Query} {
		if way != "" {
			ways++
		}
	}
	switch {
	case c.Resource == "":
		return usage.Errorf("missing: <resource> and <id> (see %s enqueue --help)", output.ProgramName)
	case ways == 0:
		return usage.Errorf("missing: <id>, --where or --query, which say what to delete (see %s enqueue --help)", output.ProgramName)
	case ways > 1:
		return usage.Errorf("<id>, --where and --query exclude each other: give one of them")
	case c.Grace < 0:
		return usage.Errorf("--grace is %s; it should be a time like 30s", c.Grace)
	}
	return nil
}

// Run queues the job, or the jobs.
func (c *Enqueue) Run(ctx context.Context, a *shell.App, plan schema.Plan) error {
	node, err := target.Node(plan, c.Resource)
	if err != nil {
		return err
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	if c.ID == "" {
		return c.many(ctx, a, plan, node, db)
	}
	root, err := target.Typed(ctx, db, plan, c.Resource, c.ID)
	if err != nil {
		return err
	}
	if c.DryRun {
		return c.one(ctx, a, db, root)
	}
	line, err := target.Queue(ctx, db, root, queue.Deletion{Grace: c.Grace, NoTrash: c.NoTrash}, c.MustExist)
	if err != nil {
		return err
	}
	return a.Say("%s", line)
}

// one is the dry run of one row.
func (c *Enqueue) one(ctx context.Context, a *shell.App, db *sql.DB, root target.Row) error {
	d, err := root.Place(ctx, db)
	if err == nil && c.MustExist {
		err = target.NotThere([]queue.Deletion{d})
	}
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s would be queued", output.RowName(queue.Job{Resource: d.Resource, ResourceID: d.ResourceID}))
	if d.From == "" {
		what += "; the row is not there, it is gone already or never was: only what is left below it would be deleted"
	}
	return a.Say("%s (%s plan counts what is below it)", what, output.ProgramName)
}
