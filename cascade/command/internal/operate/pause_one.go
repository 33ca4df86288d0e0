package operate

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
)

func (f pausedFlags) check() error {
	if f.Job != nil && *f.Job < 1 {
		return usage.Errorf("--job is %d, which is no job's number: see %s jobs", *f.Job, output.ProgramName)
	}
	if len(f.Resource) > 64 {
		return usage.Errorf("--resource has %d bytes; a resource's name has at most 64", len(f.Resource))
	}
	return nil
}

// pauseOne pauses one job or one resource.
func (c *Pause) pauseOne(ctx context.Context, db onerow.DB, a *shell.App, reason string) error {
	if c.Job == nil {
		if err := admin.Pause(ctx, db, c.Resource, reason); err != nil {
			return err
		}
		return noteResource(ctx, db, a, c.Resource)
	}
	job, err := queue.PauseJob(ctx, db, *c.Job, reason)
	switch {
	case errors.Is(err, queue.ErrWrongState):
		return fmt.Errorf("job %d is %s: no worker takes it", *c.Job, job.State)
	case errors.Is(err, queue.ErrNoJob):
		return fmt.Errorf("there is no job %d: see %s jobs", *c.Job, output.ProgramName)
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "job %d (%s) is paused\n", job.ID, output.RowName(job))
	return err
}

// resumeOne lets it go on.
func (c *Resume) resumeOne(ctx context.Context, db onerow.DB, a *shell.App) error {
	if c.Job == nil {
		if err := admin.Resume(ctx, db, c.Resource); err != nil {
			return err
		}
		_, err := fmt.Fprintf(a.Stdout, "jobs of %s are worked\n", output.Printable(c.Resource))
		return err
	}
	job, err := queue.ResumeJob(ctx, db, *c.Job)
	if errors.Is(err, queue.ErrNoJob) {
		return fmt.Errorf("there is no job %d: see %s jobs", *c.Job, output.ProgramName)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "job %d (%s) is %s\n", job.ID, output.RowName(job), job.State)
	return err
}

// ResourceLine says since when jobs of a resource are paused, and why.
func ResourceLine(p admin.PauseState) string {
	line := "jobs of " + output.Printable(p.Resource) + " are paused since " + output.Moment(p.Since) + " UTC"
	if p.Reason != "" {
		line += ": " + output.OneLine(p.Reason)
	}
	return line
}

// noteResource says that a resource is paused, as it is stored now.
func noteResource(ctx context.Context, db onerow.DB, a *shell.App, resource string) error {
	list, err := admin.PausedResources(ctx, db)
	for _, p := range list {
		if err == nil && p.Resource == resource {
			_, err = fmt.Fprintln(a.Stdout, ResourceLine(p))
		}
	}
	return err
}
