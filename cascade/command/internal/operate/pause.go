package operate

import (
	"context"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
)

// pausedFlags say what is paused, if not everything.
type pausedFlags struct {
	Job      *int64 `placeholder:"JOB" xor:"what" help:"Only this job, by its number as jobs lists it."`
	Resource string `placeholder:"NAME" xor:"what" help:"Only the jobs of this resource."`
}

func (f pausedFlags) check() error {
	switch {
	case f.Job != nil:
		return shell.CheckJob("--job", *f.Job, "jobs")
	case len(f.Resource) > 64:
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

// Run pauses, or looks.
func (c *Pause) Run(ctx context.Context, a *shell.App) error {
	reason := strings.TrimSpace(output.Printable(strings.Join(c.Reason, " ")))
	switch {
	case c.Check && reason != "":
		return usage.Errorf("--check changes nothing, so it takes no reason")
	case c.Check && (c.Job != nil || c.Resource != ""):
		return usage.Errorf("--check is about all workers; jobs --state paused lists the jobs")
	case len(reason) > maxPauseReason:
		return usage.Errorf("the reason has %d bytes; at most %d are kept", len(reason), maxPauseReason)
	}
	if err := c.check(); err != nil {
		return err
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	ctx = c.Acting(ctx, a)
	switch {
	case c.Job != nil:
		job, err := queue.PauseJob(ctx, db, *c.Job, reason)
		return shell.SayJob(a, *c.Job, job, err, "is paused", "is %s: no worker takes it")
	case c.Resource != "":
		if err := admin.Pause(ctx, db, c.Resource, reason); err != nil {
			return err
		}
		return eachPaused(ctx, db, c.Resource, func(p admin.PauseState) error { return a.Say("%s", ResourceLine(p)) })
	case !c.Check:
		if err := admin.Pause(ctx, db, "", reason); err != nil {
			return err
		}
	}
	state, err := admin.Paused(ctx, db)
	if err != nil {
		return err
	}
	if err := a.Say("%s", PauseLine(state)); err != nil || !c.Check || !state.On {
		return err
	}
	return shell.ErrReported
}

// PauseLine says what the switch is.
func PauseLine(state admin.PauseState) string {
	if !state.On {
		return "the workers are not paused"
	}
	return pausedLine("the workers are", state.Since, state.Reason)
}

// Resume takes a pause back.
type Resume struct {
	shell.ActorFlags
	pausedFlags
}

// Run resumes.
func (c *Resume) Run(ctx context.Context, a *shell.App) error {
	if err := c.check(); err != nil {
		return err
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	ctx = c.Acting(ctx, a)
	switch {
	case c.Job != nil:
		job, err := queue.ResumeJob(ctx, db, *c.Job)
		return shell.SayJob(a, *c.Job, job, err, "is %s", "is %s: no worker takes it")
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

// ResourceLine says since when jobs of a resource are paused, and why.
func ResourceLine(p admin.PauseState) string {
	return pausedLine("jobs of "+output.Printable(p.Resource)+" are", p.Since, p.Reason)
}

func pausedLine(what string, since time.Time, reason string) string {
	line := what + " paused since " + output.Moment(since) + " UTC"
	if reason != "" {
		line += ": " + output.OneLine(reason)
	}
	return line
}

// NotePause says on standard error that the workers are paused, or a resource, if so.
func NotePause(ctx context.Context, db onerow.DB, a *shell.App) error {
	err := eachPaused(ctx, db, "", func(p admin.PauseState) error {
		return a.Note("%s; %s resume --resource %s lets them go on", ResourceLine(p), output.ProgramName, output.Printable(p.Resource))
	})
	if err != nil {
		return err
	}
	state, err := admin.Paused(ctx, db)
	if err != nil || !state.On {
		return err
	}
	return a.Note("%s; %s resume lets them go on", PauseLine(state), output.ProgramName)
}

// eachPaused calls fn with the pause of a resource, or of each.
func eachPaused(ctx context.Context, db onerow.DB, resource string, fn func(admin.PauseState) error) error {
	list, err := admin.PausedResources(ctx, db)
	for _, p := range list {
		if err == nil && (resource == "" || p.Resource == resource) {
			err = fn(p)
		}
	}
	return err
}
