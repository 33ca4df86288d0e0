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
	"github.com/onerow/onerow/cascade/command/internal/operate"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// Drain works until no job is due.
type Drain struct {
	WorkFlags
}

// Run works until no job is due.
func (c *Drain) Run(ctx context.Context, a *shell.App, plan schema.Plan) error {
	show := newProgress(a)
	w, err := NewWorker(ctx, a, plan, c.WorkFlags, cascade.Config{Log: Logger(show, c.LogFormat, slog.LevelWarn), OnEvent: show.event, Progress: true})
	if err != nil {
		return err
	}
	due, later, err := queue.CountDue(ctx, w.DB)
	if err != nil {
		return err
	}
	if due == 0 { // else it would wait for the end of a pause, to do nothing
		return a.Say("%s%s", show.sum().summary(0, due, later, true), pausedNote(ctx, w.DB, later))
	}
	if err := operate.NotePause(ctx, w.DB, a); err != nil {
		return err
	}
	begin := time.Now()
	show.begin(due)
	drained := w.Drain(ctx)
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	due, later, counted := queue.CountDue(after, w.DB)
	sum := show.sum()
	line := sum.summary(time.Since(begin), due, later, counted == nil) + pausedNote(after, w.DB, due+later)
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

// pausedNote says what is paused, and why, behind the count of jobs that were not worked; empty: nothing is.
func pausedNote(ctx context.Context, db onerow.DB, jobs int) string {
	if jobs == 0 {
		return ""
	}
	lines := operate.PausedLines(ctx, db)
	if len(lines) == 0 {
		return ""
	}
	return " (" + strings.Join(lines, "; ") + ")"
}
