package deletion

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/target"
	"github.com/onerow/onerow/cascade/internal/undo"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// Undo takes back a deletion in its grace period.
type Undo struct {
	shell.PlanFlag
	shell.ActorFlags
	Deletion int64 `arg:"" name:"deletion" help:"The deletion's number, deletion_id in jobs --json."`
}

// AfterApply refuses what cannot be a deletion's number.
func (c *Undo) AfterApply() error {
	if c.Deletion < 1 {
		return usage.Errorf("%d is no deletion's number: see deletion_id in %s jobs --json", c.Deletion, output.ProgramName)
	}
	return nil
}

// Run takes the deletion back.
func (c *Undo) Run(ctx context.Context, a *shell.App, plan schema.Plan, db *sql.DB) error {
	back, err := undo.Restore(ctx, db, plan, c.Deletion)
	if err != nil {
		return err
	}
	if err := a.Say("%s", undo.Told(back)); err != nil {
		return err
	}
	lines, err := notBack(ctx, db, plan, back)
	if err != nil {
		return fmt.Errorf("the deletion is taken back; what does not come back with it cannot be read: %w", err)
	}
	for _, line := range lines {
		if err := a.Say("%s", line); err != nil {
			return err
		}
	}
	return nil
}

// notBack says what did not come back with a deletion: the row itself, where nobody has hidden it, and what
// its job has done, if that had begun and was held. A job of a later deletion of the row says nothing.
func notBack(ctx context.Context, db *sql.DB, plan schema.Plan, back repo.Restored) ([]string, error) {
	lines, err := rowGone(ctx, db, plan, back)
	if err != nil {
		return nil, err
	}
	job, err := queue.Find(ctx, db, back.Resource, back.Key)
	if errors.Is(err, queue.ErrNoJob) || err == nil && job.DeletionID != back.DeletionID {
		return lines, nil
	}
	if err != nil {
		return nil, err
	}
	more, err := undo.Gone(ctx, db, plan, job)
	return append(lines, more...), err
}

// rowGone says that a row is not there. Of a resource the answer has said it already; of a table it is looked
// for.
func rowGone(ctx context.Context, db *sql.DB, plan schema.Plan, back repo.Restored) ([]string, error) {
	node, err := plan.Node(back.Resource)
	if err != nil || back.State != "" {
		return nil, err
	}
	if !node.Managed {
		row, err := target.Stored(ctx, db, plan, node, back.Key)
		if err != nil {
			return nil, err
		}
		if found, err := row.Place(ctx, db); err != nil || found.From != "" {
			return nil, err
		}
	}
	return []string{fmt.Sprintf("%s itself is gone and does not come back: it was not hidden, but deleted by the application; what is below it refers to nothing (%s orphans)", output.RowName(queue.Job{Resource: node.Name, ResourceID: back.Key}), output.ProgramName)}, nil
}

// Cancel ends a deletion that may have begun.
type Cancel struct {
	shell.PlanFlag
	shell.JobArg
}

// Run cancels the job.
func (c *Cancel) Run(ctx context.Context, a *shell.App, plan schema.Plan, db *sql.DB) error {
	back, job, err := repo.CancelJob(ctx, db, plan, int64(c.Job))
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
