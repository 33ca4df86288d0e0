package operate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
)

// pausedFlags say what is paused, if not everything.
type pausedFlags struct {
	Job      *shell.JobNumber `placeholder:"JOB" xor:"what" help:"Only this job, by its number as jobs lists it."`
	Resource string           `placeholder:"NAME" xor:"what" help:"Only the jobs of this resource."`
}

// Validate refuses what can be no resource.
func (f pausedFlags) Validate() error {
	if len(f.Resource) > 64 {
		return usage.Errorf("--resource has %d bytes; a resource's name has at most 64", len(f.Resource))
	}
	return nil
}

// Pause makes workers wait, or leave one job or one resource.
type Pause struct {
	shell.ByFlag
	pausedFlags
	Reason []string `arg:"" optional:"" help:"Why; it is shown with the workers."`
	Check  bool     `help:"Change nothing: say whether the workers are paused, and exit with 1 if they are."`
}

// maxPauseReason is what is kept of a reason.
const maxPauseReason = 200

// reason is the words that were given, as they are kept.
func (c *Pause) reason() string {
	return strings.TrimSpace(output.Printable(strings.Join(c.Reason, " ")))
}

// Validate refuses what --check does not go with, and a reason that would be cut.
func (c *Pause) Validate() error {
	reason := c.reason()
	switch {
	case c.Check && reason != "":
		return usage.Errorf("--check changes nothing, so it takes no reason")
	case c.Check && (c.Job != nil || c.Resource != ""):
		return usage.Errorf("--check is about all workers; jobs --state paused lists the jobs")
	case len(reason) > maxPauseReason:
		return usage.Errorf("the reason has %d bytes; at most %d are kept", len(reason), maxPauseReason)
	}
	return c.pausedFlags.Validate()
}

// Run pauses, or looks.
func (c *Pause) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	if c.Job != nil {
		return a.ActOnJob(ctx, db, *c.Job, func(ctx context.Context, db onerow.DB, job int64) (queue.Job, error) {
			return queue.PauseJob(ctx, db, job, c.reason())
		}, "is paused", "is %s: no worker takes it")
	}
	if !c.Check {
		if err := admin.Pause(ctx, db, c.Resource, c.reason()); err != nil {
			return err
		}
	}
	if c.Resource != "" {
		list, err := admin.PausedResources(ctx, db)
		for _, p := range list {
			if p.Resource == c.Resource {
				err = a.Say("%s", pausedLine(p))
			}
		}
		return err
	}
	state, err := admin.Paused(ctx, db)
	if err != nil {
		return err
	}
	if !state.On {
		return a.Say("the workers are not paused")
	}
	if err := a.Say("%s", pausedLine(state)); err != nil || !c.Check {
		return err
	}
	return shell.ErrReported
}

// Resume takes a pause back.
type Resume struct {
	shell.ActorFlags
	pausedFlags
}

// Run resumes.
func (c *Resume) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	switch {
	case c.Job != nil:
		return a.ActOnJob(ctx, db, *c.Job, queue.ResumeJob, "is %s", "is %s: no worker takes it")
	case c.Resource != "":
		if err := admin.Resume(ctx, db, c.Resource); err != nil {
			return err
		}
		return a.Say("jobs of %s are worked", output.Printable(c.Resource))
	}
	was, err := admin.Paused(ctx, db)
	if err != nil {
		return err
	}
	if err := admin.Resume(ctx, db, ""); err != nil {
		return err
	}
	if !was.On {
		return a.Say("the workers were not paused")
	}
	return a.Say("the workers go on; they were paused since %s UTC", output.Moment(was.Since))
}

// pausedLine says since when the workers are paused, or the jobs of a resource, and why.
func pausedLine(p admin.PauseState) string {
	line := "the workers are"
	if p.Resource != "" {
		line = "jobs of " + output.Printable(p.Resource) + " are"
	}
	line += " paused since " + output.Moment(p.Since) + " UTC"
	if p.Reason != "" {
		line += ": " + output.OneLine(p.Reason)
	}
	return line
}

// allPaused is what is paused: all workers, then resources.
func allPaused(ctx context.Context, db onerow.DB) (list []admin.PauseState, err error) {
	workers, err := admin.Paused(ctx, db)
	if workers.On {
		list = append(list, workers)
	}
	resources, err2 := admin.PausedResources(ctx, db)
	return append(list, resources...), errors.Join(err, err2)
}

// NotePause says on standard error that the workers are paused, or a resource, if so.
func NotePause(ctx context.Context, db onerow.DB, a *shell.App) error {
	list, err := allPaused(ctx, db)
	for _, p := range list {
		resume := "resume"
		if p.Resource != "" {
			resume += " --resource " + output.Printable(p.Resource)
		}
		if err == nil {
			err = a.Note("%s; %s %s lets them go on", pausedLine(p), output.ProgramName, resume)
		}
	}
	return err
}

// PausedLines say what is paused, and one job of those that are. What cannot be read is not said.
func PausedLines(ctx context.Context, db onerow.DB) (lines []string) {
	list, _ := allPaused(ctx, db) //nolint:errcheck // as good as it can be had
	for _, p := range list {
		lines = append(lines, pausedLine(p))
	}
	if jobs, err := queue.List(ctx, db, queue.ListOptions{State: queue.OnPause, Limit: 1}); err == nil && len(jobs) > 0 {
		line := fmt.Sprintf("job %d is paused", jobs[0].ID)
		if jobs[0].LastError != "" {
			line += ": " + output.Shorten(output.OneLine(jobs[0].LastError), 120)
		}
		lines = append(lines, line)
	}
	return lines
}
