package deletion

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

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

// Run takes the deletion back.
func (c *Undo) Run(ctx context.Context, a *shell.App) error {
	if c.Deletion < 1 {
		return usage.Errorf("%d is no deletion's number: see deletion_id in %s jobs --json", c.Deletion, output.ProgramName)
	}
	plan, db, err := a.OpenPlanned(ctx, c.PlanFlag)
	if err != nil {
		return err
	}
	back, err := undo.Restore(c.Acting(ctx, a), db, plan, c.Deletion)
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
