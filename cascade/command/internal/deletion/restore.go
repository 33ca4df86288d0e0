package deletion

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/undo"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/schema"
)

// Restore brings back what a job has deleted and kept.
type Restore struct {
	shell.PlanFlag
	shell.JobArg
	DryRun bool       `name:"dry-run" help:"Only say what is in the trash, and what cannot come back."`
	Batch  int        `default:"1000" placeholder:"N" help:"How many rows a transaction brings back, more or less (1000)."`
	Load   shell.Load `default:"1" placeholder:"SHARE" help:"The share of the time that batches may take, from 0.01 to 1 (1)."`
}

// Validate refuses an empty batch.
func (c *Restore) Validate() error {
	if c.Batch < 1 {
		return usage.Errorf("--batch is %d; it should be 1 or more", c.Batch)
	}
	return nil
}

// Run brings the rows back.
func (c *Restore) Run(ctx context.Context, a *shell.App, plan schema.Plan, db *sql.DB) error {
	if c.DryRun {
		return c.dryRun(ctx, a, db, plan)
	}
	if err := undo.MayRestore(ctx, db, plan); err != nil {
		return err
	}
	show := shell.NewCounter(a)
	pace := shell.NewPacer(a, db, c.Load, nil, show)
	back, p, err := recover.Job(ctx, db, plan, int64(c.Job), recover.Options{Batch: c.Batch,
		OnBatch: func(ctx context.Context, p recover.Progress) error {
			show.Say(func() string {
				return fmt.Sprintf("%s of %s", output.Grouped(p.Seen), output.Plural(p.Total, "row"))
			})
			return pace.Wait(ctx)
		}})
	if errors.Is(err, queue.ErrNoJob) || errors.Is(err, recover.ErrNotKept) {
		return c.refused(err)
	}
	if told := restoredSummary(p); told != "" {
		if perr := a.Say("%s", told); perr != nil {
			return errors.Join(err, perr)
		}
	}
	switch {
	case ctx.Err() != nil:
		return shell.Stopped(ctx, fmt.Errorf("interrupted; %s restore %d goes on", output.ProgramName, c.Job))
	case errors.Is(err, schema.ErrInvalidPlan), errors.Is(err, schema.ErrUnknownResource):
		return err
	case err != nil:
		return fmt.Errorf("%w; %s restore %d goes on", err, output.ProgramName, c.Job)
	}
	if err := a.Say("%s", undo.ToldRestored(back, p)); err != nil {
		return err
	}
	if err := tellMissing(a, "not back:", p); err != nil {
		return err
	}
	switch {
	case p.Stuck > 0:
		return fmt.Errorf("%s could not come back and stay in the trash (%s trash show %d), among them: %s", output.Plural(p.Stuck, "row"), output.ProgramName, c.Job, output.OneLine(p.Why))
	case len(p.Missing) > 0 || p.RootMissing != "":
		return fmt.Errorf("not all that job %d has deleted is back", c.Job)
	}
	return nil
}

// dryRun says what is in the trash, and what cannot come back.
func (c *Restore) dryRun(ctx context.Context, a *shell.App, db *sql.DB, plan schema.Plan) error {
	p, err := recover.Rows(ctx, db, plan, int64(c.Job), recover.Options{DryRun: true})
	if err != nil {
		return c.refused(err)
	}
	if err := showTrash(ctx, a, db, c.Job, false); err != nil {
		return err
	}
	if p.RootMissing != "" {
		if err := a.Say("the row itself does not come back: %s", output.OneLine(p.RootMissing)); err != nil {
			return err
		}
	}
	return tellMissing(a, "does not come back:", p)
}

// tellMissing prints what is missing.
func tellMissing(a *shell.App, title string, p recover.Progress) error {
	if len(p.Missing) == 0 {
		return nil
	}
	return a.Say("%s", title+"\n  "+strings.Join(undo.Missing(p), "\n  "))
}

// refused says what to do where a job cannot be restored at all.
func (c *Restore) refused(err error) error {
	switch {
	case errors.Is(err, queue.ErrNoJob):
		return shell.JobError(c.Job, err)
	case errors.Is(err, recover.ErrNotKept):
		return output.Said(fmt.Sprintf("nothing of job %d is in the trash, so nothing was changed: its plan kept nothing, its time is over, or it is back already", c.Job), err)
	}
	return err
}

// restoredSummary says how much is back.
func restoredSummary(p recover.Progress) string {
	if p.Seen == 0 {
		return ""
	}
	line := output.Plural(p.Rows, "row") + " back"
	if p.References > 0 {
		line += fmt.Sprintf(", %s set again", output.Plural(p.References, "reference"))
	}
	if p.Changed > 0 {
		line += fmt.Sprintf(", %s left as somebody has changed them since", output.Plural(p.Changed, "reference"))
	}
	return line
}
