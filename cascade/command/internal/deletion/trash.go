package deletion

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// Trash lists what can be brought back, or removes it.
type Trash struct {
	List  trashListCmd  `cmd:"" help:"List what can be brought back, newest first."`
	Show  trashShowCmd  `cmd:"" help:"Show what a job has kept, and what could not come back."`
	Purge trashPurgeCmd `cmd:"" help:"Remove for good what has expired, or what a job has kept."`
}

type trashListCmd struct {
	JSON  bool        `name:"json" help:"Print a JSON array."`
	Limit shell.Limit `default:"50" placeholder:"N" help:"How many jobs at most (50)."`
}

// keptJob is what trash list prints.
type keptJob struct {
	admin.Kept
	Resource   string `json:"resource,omitempty"`
	ResourceID string `json:"resource_id,omitempty"`
	State      string `json:"state,omitempty"`
}

func (c *trashListCmd) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	kept, err := admin.ListTrash(ctx, db, int(c.Limit))
	if err != nil {
		return err
	}
	all := make([]keptJob, len(kept))
	for i, k := range kept {
		job, err := queue.Get(ctx, db, k.JobID)
		if err != nil && !errors.Is(err, queue.ErrNoJob) {
			return err
		}
		all[i] = keptJob{k, job.Resource, job.ResourceID, string(job.State)}
	}
	return shell.PrintList(a, c.JSON, all, "the trash is empty", []string{">JOB", "ROW", "STATE", ">ROWS", ">REFERENCES", ">STUCK", "SINCE", "EXPIRES"}, func(k keptJob) []string {
		name := "(its job was purged)"
		if k.State != "" {
			name = output.RowName(queue.Job{Resource: k.Resource, ResourceID: k.ResourceID})
		}
		return []string{fmt.Sprint(k.JobID), name, k.State, output.Grouped(k.Rows), output.Grouped(k.References), shell.Some("%s", k.Stuck), output.Moment(k.Since), output.Moment(k.Expires)}
	})
}

type trashShowCmd struct {
	Job  shell.JobNumber `arg:"" name:"job" help:"The job's number, as trash list prints it."`
	JSON bool            `name:"json" help:"Print a JSON array."`
}

func (c *trashShowCmd) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	return showTrash(ctx, a, db, c.Job, c.JSON)
}

// showTrash prints what of a job is in the trash.
func showTrash(ctx context.Context, a *shell.App, db onerow.DB, job shell.JobNumber, asJSON bool) error {
	kept, err := admin.TrashOf(ctx, db, int64(job))
	if err != nil {
		return err
	}
	return shell.PrintList(a, asJSON, kept, nothingKept(job), []string{"TABLE", ">ROWS", ">REFERENCES", ">STUCK", "SINCE", "EXPIRES", "WHY STUCK"}, func(k admin.Kept) []string {
		return []string{output.Shorten(output.Printable(k.Table), 64), output.Grouped(k.Rows), output.Grouped(k.References), output.Grouped(k.Stuck),
			output.Moment(k.Since), output.Moment(k.Expires), output.Shorten(output.OneLine(k.Why), 160)}
	})
}

func nothingKept(job shell.JobNumber) string {
	return fmt.Sprintf("nothing of job %d is in the trash", job)
}

type trashPurgeCmd struct {
	shell.PlanFlag
	shell.AssetsFlag
	shell.ActorFlags
	Job *shell.JobNumber `placeholder:"JOB" help:"Also what this job has kept, though its time is not over."`
}

const purgeTrashRows = 5000

func (c *trashPurgeCmd) Run(ctx context.Context, a *shell.App, plan schema.Plan) error {
	assets, err := a.Assets(ctx, c.AssetsFlag, plan)
	if err != nil {
		return err
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	if c.Job != nil {
		n, err := admin.ExpireTrash(ctx, db, int64(*c.Job))
		if err == nil && n == 0 {
			err = a.Note("%s", nothingKept(*c.Job))
		}
		if err != nil {
			return err
		}
	}
	show, removed := shell.NewCounter(a), int64(0)
	for {
		n, err := admin.PurgeTrash(ctx, db, plan, assets, purgeTrashRows)
		removed += n
		if err != nil || n < purgeTrashRows {
			said := a.Say("%s removed from the trash, copies of rows that are back included", output.Plural(removed, "row"))
			return shell.Stopped(ctx, errors.Join(err, said))
		}
		show.Say(func() string { return output.Plural(removed, "row") + " removed" })
	}
}
