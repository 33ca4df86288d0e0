package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
)

// pausedFlags say what is paused, if not everything.
type pausedFlags struct {
	Job      *int64 `placeholder:"JOB" xor:"what" help:"Only this job, by its number as jobs lists it."`
	Resource string `placeholder:"NAME" xor:"what" help:"Only the jobs of this resource."`
}

// Pause makes workers wait, or leave one job or one resource.
type Pause struct {
	shell.ByFlag
	pausedFlags
	Reason []string `arg:"" optional:"" help:"Why; it is shown with the workers."`
	Check  bool     `help:"Change nothing: say whether the workers are paused, and exit with 1 if they are."`
}

// Help is the command's longer description.
func (Pause) Help() string {
	return `Makes all workers of the database wait: they claim nothing and go on with nothing, but
keep what they have. They notice within a second, after the batch that they are in.
Pausing again replaces the reason.

With --job or --resource they go on with other jobs. What is paused so is claimed by no
worker and given back by who has it, after its batch; it is no failure. A job that is
paused in its grace period can be undone, also after that.

Examples:

    cascade-worker pause 'schema change, until about 14:00'
    cascade-worker pause --job 17 'asked the customer'
    cascade-worker pause --resource project 'ticket 4711'
    cascade-worker pause --check
    cascade-worker resume`
}

// maxPauseReason is what is kept of a reason.
const maxPauseReason = 200

// Run pauses, or looks.
func (c *Pause) Run(ctx context.Context, a *shell.App) (err error) {
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
	defer func() { err = errors.Join(err, db.Close()) }()
	if c.Job != nil || c.Resource != "" {
		return c.pauseOne(c.Acting(ctx, a), db, a, reason)
	}
	if !c.Check {
		if err := admin.Pause(c.Acting(ctx, a), db, "", reason); err != nil {
			return err
		}
	}
	state, err := admin.Paused(ctx, db)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.Stdout, PauseLine(state)); err != nil {
		return err
	}
	if c.Check && state.On {
		return shell.ErrReported
	}
	return nil
}

// PauseLine says what the switch is.
func PauseLine(state admin.PauseState) string {
	if !state.On {
		return "the workers are not paused"
	}
	line := "the workers are paused since " + output.Moment(state.Since) + " UTC"
	if state.Reason != "" {
		line += ": " + output.OneLine(state.Reason)
	}
	return line
}

// Resume takes a pause back.
type Resume struct {
	shell.ActorFlags
	pausedFlags
}

// Help is the command's longer description.
func (Resume) Help() string {
	return `Lets the workers go on that pause has stopped, or with --job or --resource what was
paused by itself. That nothing is paused is no error.

Examples:

    cascade-worker resume
    cascade-worker resume --job 17`
}

// Run resumes.
func (c *Resume) Run(ctx context.Context, a *shell.App) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if c.Job != nil || c.Resource != "" {
		return c.resumeOne(c.Acting(ctx, a), db, a)
	}
	was, err := admin.Paused(ctx, db)
	if err != nil {
		return err
	}
	if err := admin.Resume(c.Acting(ctx, a), db, ""); err != nil {
		return err
	}
	line := "the workers were not paused"
	if was.On {
		line = "the workers go on; they were paused since " + output.Moment(was.Since) + " UTC"
	}
	_, err = fmt.Fprintln(a.Stdout, line)
	return err
}

// Workers lists the workers, and why those wait that do.
type Workers struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help is the command's longer description.
func (Workers) Help() string {
	return `Every worker that showed a sign of life in the last hour. One that ends cleanly is not
listed any more; one that was killed is, with the time when it was last seen. WAITS
BECAUSE is the pause, or the throttle, that is in force for it.

Examples:

    cascade-worker workers
    cascade-worker workers --json | jq '.[] | select(.throttle)'`
}

// A worker gives a sign of life each 5 seconds, between batches: so old is that of one that may be dead, and
// of one that is not well.
const (
	late    = 7 * time.Second
	overdue = 30 * time.Second
)

// Run prints the workers.
func (c *Workers) Run(ctx context.Context, a *shell.App) (err error) {
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	list, err := admin.Workers(ctx, db)
	if err != nil {
		return err
	}
	if c.JSON {
		return shell.PrintJSON(a, append([]admin.WorkerStatus{}, list...))
	}
	if err := NotePause(ctx, db, a); err != nil {
		return err
	}
	lines, err := settingLines(ctx, db)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(a.Stderr, "%s (%s set --default takes it back)\n", line, output.ProgramName); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		_, err := fmt.Fprintf(a.Stderr, "no worker was seen in the last hour: start one with %s run\n", output.ProgramName)
		return err
	}
	rows := make([][]string, len(list))
	for i, w := range list {
		job, seen := "-", "now"
		if w.JobID != 0 {
			job = fmt.Sprint(w.JobID)
		}
		switch {
		case w.Ago > overdue:
			seen = "not seen since " + output.Moment(w.SeenAt)
		case w.Ago > late:
			seen = w.Ago.Truncate(time.Second).String() + " ago"
		}
		rows[i] = []string{output.Shorten(output.Printable(w.Name), 40), output.Moment(w.StartedAt), seen, job, output.Shorten(output.OneLine(w.Throttle), 120)}
	}
	titles, rows := shell.WithError([]string{"WORKER", "STARTED", "SEEN", ">JOB", "WAITS BECAUSE"}, rows)
	return output.Table(a.Stdout, titles, rows)
}

// NotePause says on standard error that the workers are paused, or a resource, if so.
func NotePause(ctx context.Context, db onerow.DB, a *shell.App) error {
	resources, err := admin.PausedResources(ctx, db)
	for _, p := range resources {
		if err == nil {
			_, err = fmt.Fprintf(a.Stderr, "%s; %s resume --resource %s lets them go on\n", ResourceLine(p), output.ProgramName, output.Printable(p.Resource))
		}
	}
	if err != nil {
		return err
	}
	state, err := admin.Paused(ctx, db)
	if err != nil || !state.On {
		return err
	}
	_, err = fmt.Fprintf(a.Stderr, "%s; %s resume lets them go on\n", PauseLine(state), output.ProgramName)
	return err
}
