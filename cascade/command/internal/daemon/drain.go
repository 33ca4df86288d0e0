package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/admin"
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
	show := &progress{Counter: shell.NewCounter(a), terminal: a.Terminal, jobs: map[int64]queue.Job{}}
	w, err := NewWorker(ctx, a, plan, c.WorkFlags, cascade.Config{Log: Logger(show, c.LogFormat, slog.LevelWarn), OnEvent: show.event, Progress: true})
	if err != nil {
		return err
	}
	due, later, err := countDue(ctx, w.DB)
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
	show.total = due
	show.Soon()
	drained := w.Drain(ctx)
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	due, later, counted := countDue(after, w.DB)
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

// countDue counts the open jobs that are due, and the others.
func countDue(ctx context.Context, db onerow.DB) (due, later int, err error) {
	stats, err := admin.ReadStats(ctx, db)
	for _, n := range stats.Open {
		later += int(n)
	}
	return int(stats.Due), later - int(stats.Due), err
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

// progress shows how a drain goes on, and counts it by the worker's events: what a job counts includes the
// rows that earlier runs have deleted, a batch does not.
type progress struct {
	*shell.Counter
	terminal bool

	mu    sync.Mutex // of event, while jobs are worked
	total int        // jobs, as far as they are known
	jobs  map[int64]queue.Job
	rows  int64 // deleted by this drain
}

// event counts a batch's rows, which is told before its job's progress, and shows that.
func (p *progress) event(e cascade.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e.Took > 0:
		p.rows += output.SumRows(e.Deleted)
	case e.Progress != nil:
		p.jobs[e.Progress.ID] = *e.Progress
		p.total = max(p.total, len(p.jobs))
		p.Say(func() string { return p.line(*e.Progress) })
	}
}

// sum counts the jobs that this drain has worked on, as they were last seen.
func (p *progress) sum() tally {
	s := tally{rows: p.rows}
	for _, j := range p.jobs {
		switch {
		case j.State == queue.Done:
			s.done++
		case j.State == queue.Leftovers:
			s.left++
		case j.State == queue.Dead:
			s.dead++
		case j.State == queue.Ready && j.Failures > 0:
			s.failed++
		}
	}
	return s
}

// line is how far a drain is, with a bar on a terminal.
func (p *progress) line(now queue.Job) string {
	s, bar := p.sum(), ","
	ended := s.done + s.left + s.dead + s.failed
	if p.terminal {
		bar = fmt.Sprintf(" [%-21s]", strings.Repeat("=", 20*ended/max(p.total, 1))+">")
	}
	return fmt.Sprintf("%s/%s%s %s, now %s", output.Grouped(ended), output.Plural(p.total, "job"), bar, output.Plural(s.rows, "row"), output.RowName(now))
}

// tally is the state of a drain in figures.
type tally struct {
	done, dead int
	failed     int   // jobs that will be tried again
	left       int   // jobs that have ended with leftovers
	rows       int64 // deleted below the roots of these jobs, by this drain
}

// summary is the last line of a drain.
func (s tally) summary(took time.Duration, due, later int, counted bool) string {
	line := fmt.Sprintf("%s done, %s deleted below them in %s", output.Plural(s.done, "job"), output.Plural(s.rows, "row"), took.Round(10*time.Millisecond)) +
		shell.Some("; %s failed, to be tried again", s.failed)
	if s.left > 0 {
		line += fmt.Sprintf("; %s with leftovers", output.Plural(s.left, "job"))
	}
	line += shell.Some("; %s dead", s.dead)
	switch {
	case !counted:
	case due == 0 && later == 0:
		line += "; the queue is empty"
	default:
		line += fmt.Sprintf("; %s due, %s for later", output.Grouped(due), output.Grouped(later))
	}
	return line
}
