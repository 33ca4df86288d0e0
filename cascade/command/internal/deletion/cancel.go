package deletion

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/undo"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/repo"
)

// Cancel ends a deletion that may have begun.
type Cancel struct {
	shell.PlanFlag
	shell.JobArg
}

// Run cancels the job.
func (c *Cancel) Run(ctx context.Context, a *shell.App) error {
	if err := shell.CheckJob("", c.Job, "jobs"); err != nil {
		return err
	}
	plan, db, err := a.OpenPlanned(ctx, c.PlanFlag)
	if err != nil {
		return err
	}
	back, job, err := repo.CancelJob(c.Acting(ctx, a), db, plan, c.Job)
	switch {
	case errors.Is(err, queue.ErrNoJob):
		return shell.JobError(c.Job, err)
	case errors.Is(err, queue.ErrWrongState):
		return output.Said(fmt.Sprintf("job %d is done: what it has deleted comes back with %s restore %d, where the plan keeps it", c.Job, output.ProgramName, c.Job), err)
	case errors.Is(err, queue.ErrOpenJob):
		return output.Said(fmt.Sprintf("job %d has a newer one for the same row, which is open: cancel that one", c.Job), err)
	case err != nil:
		return fmt.Errorf("%w; %s cancel %d may be run again", err, output.ProgramName, c.Job)
	}
	lines := []string{fmt.Sprintf("job %d (%s) is cancelled", job.ID, output.RowName(job))}
	if back.Changed {
		lines[0] += "; " + undo.Told(back)
		more, err := rowGone(ctx, db, plan, back)
		if err != nil {
			return fmt.Errorf("job %d is cancelled; whether its row is there cannot be read: %w", job.ID, err)
		}
		lines = append(lines, more...)
	}
	gone, err := undo.Gone(ctx, db, plan, job)
	if err != nil {
		return err
	}
	if len(gone) == 0 {
		gone = []string{"nothing below it had been deleted"}
	}
	return a.Say("%s", strings.Join(append(lines, gone...), "\n"))
}
