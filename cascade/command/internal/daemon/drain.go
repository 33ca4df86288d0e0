package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/operate"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

// Drain works until no job is due.
type Drain struct {
	WorkFlags
}

// Run works until no job is due.
func (c *Drain) Run(ctx context.Context, a *shell.App) (err error) {
	show := newProgress(a.Stderr, a.Terminal)
	defer func() { err = errors.Join(err, show.end()) }()
	w, err := NewWorker(ctx, a, c.WorkFlags, cascade.Config{Log: Logger(show, c.LogFormat, slog.LevelWarn), OnEvent: show.event, Progress: true})
	if err != nil {
		return err
	}
	due, later, err := queue.CountDue(ctx, w.DB)
	if err != nil {
		return err
	}
	if due == 0 { // else it would wait for the end of a pause, to do nothing
		line := show.sum().summary(0, due, later, true)
		if later > 0 {
			line += standing(ctx, w.DB)
		}
		return a.Say("%s", line)
	}
	if err := operate.NotePause(ctx, w.DB, a); err != nil {
		return err
	}
	begin := time.Now()
	show.begin(due)
	drained := w.Drain(ctx)
	drained = errors.Join(drained, show.end()) // so that the summary stands alone

	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	due, later, counted := queue.CountDue(after, w.DB)
	sum := show.sum()
	line := sum.summary(time.Since(begin), due, later, counted == nil)
	if counted == nil && due+later > 0 {
		line += standing(after, w.DB)
	}
	if err := errors.Join(drained, a.Say("%s", line), counted); err != nil {
		return err
	}
	switch {
	case sum.dead+sum.failed > 0:
		return fmt.Errorf("%s could not be worked: see %s jobs", output.Plural(sum.dead+sum.failed, "job"), output.ProgramName)
	case sum.left > 0:
		return fmt.Errorf("%s ended with leftovers: see %s parked list", output.Plural(sum.left, "job"), output.ProgramName)
	}
	return nil
}

// standing says what is paused, and why, behind the count of what was not worked; empty: nothing is. It is as
// good as it can be had: what cannot be read is not worth an error.
func standing(ctx context.Context, db onerow.DB) string {
	var lines []string
	if state, err := admin.Paused(ctx, db); err == nil && state.On {
		lines = append(lines, operate.PauseLine(state))
	}
	if list, err := admin.PausedResources(ctx, db); err == nil {
		for _, p := range list {
			lines = append(lines, operate.ResourceLine(p))
		}
	}
	if jobs, err := queue.List(ctx, db, queue.ListOptions{State: queue.OnPause, Limit: 1}); err == nil && len(jobs) > 0 {
		line := fmt.Sprintf("job %d is paused", jobs[0].ID)
		if jobs[0].LastError != "" {
			line += ": " + output.Shorten(output.OneLine(jobs[0].LastError), 120)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return ""
	}
	return " (" + strings.Join(lines, "; ") + ")"
}
