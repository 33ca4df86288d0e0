package operate

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
)

// First has a job worked before all others that are due.
type First struct {
	shell.ActorFlags
	Job int64 `arg:"" name:"job" help:"The job's number, as jobs lists it."`
}

// Help is the command's longer description.
func (First) Help() string {
	return `Has a job that is due, or waits for its next attempt, worked before all others that are due
now. Workers finish the batches and turns that they are in. What is put first after it goes
before it.

Examples:

    cascade-worker first 17 --reason 'erasure, due today'`
}

// Run puts the job first.
func (c *First) Run(ctx context.Context, a *shell.App) (err error) {
	if c.Job < 1 {
		return usage.Errorf("%d is no job's number: see %s jobs", c.Job, output.ProgramName)
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	job, err := queue.PutFirst(c.Acting(ctx, a), db, c.Job)
	switch {
	case errors.Is(err, queue.ErrNoJob):
		return output.Said(fmt.Sprintf("there is no job %d: see %s jobs", c.Job, output.ProgramName), err)
	case errors.Is(err, queue.ErrWrongState):
		return output.Said(fmt.Sprintf("job %d cannot be put first: %s", c.Job, output.Detail(err, queue.ErrWrongState)), err)
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "job %d (%s) is first\n", job.ID, output.RowName(job))
	return err
}
