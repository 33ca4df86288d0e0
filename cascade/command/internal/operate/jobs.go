// Package operate has the commands of whoever operates the queue: jobs, report, retry, parked, pause, resume,
// first, set and workers.
//
// Open this package when a command about the queue or its workers changes.
package operate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
)

// Jobs lists jobs, newest first.
type Jobs struct {
	JSON   bool        `name:"json" help:"Print a JSON array."`
	State  string      `placeholder:"STATE" help:"Only jobs that are open (scheduled, held, paused, ready or running), or done, leftovers, cancelled, restored or dead."`
	Search string      `placeholder:"TEXT" help:"Only jobs of this row (project 42), resource, key, owner, deletion, or asked for by somebody of this name."`
	Limit  shell.Limit `default:"50" placeholder:"N" help:"How many jobs at most (50)."`
}

// Validate refuses a state that there is not.
func (c *Jobs) Validate() error {
	states := []queue.State{queue.AllOpen, queue.Scheduled, queue.Held, queue.OnPause, queue.Ready, queue.Running, queue.Done, queue.Leftovers, queue.Cancelled, queue.Restored, queue.Dead}
	if c.State != "" && !slices.Contains(states, queue.State(c.State)) {
		return usage.Errorf("--state is %q; it should be one of %q", c.State, states)
	}
	if c.Search != "" && c.State != "" {
		return usage.Errorf("--search and --state exclude each other: give one of them")
	}
	return nil
}

// Run prints the jobs.
func (c *Jobs) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	jobs, err := c.jobs(ctx, db)
	if err != nil {
		return err
	}
	var waits map[string]string
	if !c.JSON {
		err = NotePause(ctx, db, a)
		if err == nil && len(jobs) > 0 {
			waits, err = waiting(ctx, db)
		}
		if err != nil {
			return err
		}
	}
	none := "no jobs"
	switch {
	case c.State != "":
		none = "no jobs that are " + c.State
	case c.Search != "":
		none = "no jobs found"
	}
	return shell.PrintList(a, c.JSON, jobs, none, []string{">JOB", "STATE", "ROW", ">ROWS", ">FAILURES", "CREATED", "DUE OR ENDED", "?ERROR"},
		func(j queue.Job) []string { return jobRow(j, waits) })
}

// jobs are those that are searched for, or the newest of a state.
func (c *Jobs) jobs(ctx context.Context, db onerow.DB) ([]queue.Job, error) {
	if c.Search != "" {
		return admin.Search(ctx, db, c.Search, int(c.Limit))
	}
	return shell.ReadPages(c.Limit, func(last queue.Job, limit int) ([]queue.Job, error) {
		return queue.List(ctx, db, queue.ListOptions{State: queue.State(c.State), After: last.ID, Limit: limit})
	})
}

// waiting is why workers wait, by name.
func waiting(ctx context.Context, db onerow.DB) (map[string]string, error) {
	workers, err := admin.Workers(ctx, db)
	waits := map[string]string{}
	for _, w := range workers {
		if w.Ago <= overdue && governor.KindOf(w.Throttle) != "load" {
			waits[w.Name] = w.Throttle
		}
	}
	return waits, err
}

// jobState is the state, with what waits for somebody.
func jobState(j queue.Job) string {
	return string(j.State) + shell.Some(", %s parked", j.Parked)
}

func jobRow(j queue.Job, waits map[string]string) []string {
	when, problem := "due "+output.Moment(j.DueAt), ""
	switch {
	case j.State == queue.Running:
		when = "leased until " + output.Moment(j.DueAt) + " by " + output.Shorten(output.Printable(j.Worker), 32)
		if reason := waits[j.Worker]; reason != "" {
			when += ", who waits (" + output.Shorten(output.OneLine(reason), 80) + ")"
		}
	case j.State == queue.Held || j.State == queue.OnPause:
		when = string(j.State) + ", else " + when
	case !j.State.Open():
		when = "ended " + output.Moment(j.FinishedAt)
	}
	if output.Troubled(j) {
		problem = output.Shorten(output.OneLine(j.LastError), 120)
	}
	return []string{fmt.Sprint(j.ID), jobState(j), output.RowName(j), output.Grouped(j.DeletedRows), output.Grouped(j.Failures), output.Moment(j.CreatedAt), when, problem}
}

// Retry makes a job that is dead or has leftovers ready again.
type Retry struct{ shell.JobArg }

// Run retries the job. One that goes on by itself, perhaps since it was retried before, is as it should be.
func (c *Retry) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	var job queue.Job
	retry := func(ctx context.Context, db onerow.DB, id int64) (_ queue.Job, err error) {
		job, err = queue.Retry(ctx, db, id)
		return job, err
	}
	err := a.ActOnJob(ctx, db, c.Job, retry, "is %s again", "is %s: only a dead job, a held one, or one with leftovers can be retried")
	if errors.Is(err, queue.ErrWrongState) && (job.State == queue.Ready || job.State == queue.Running) {
		return a.Say("job %d (%s) is %s already, nothing was to be done", job.ID, output.RowName(job), job.State)
	}
	return err
}

// First has a job worked before all others that are due.
type First struct{ shell.JobArg }

// Run puts the job first.
func (c *First) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	return a.ActOnJob(ctx, db, c.Job, queue.PutFirst, "is first", "cannot be put first: it is %s")
}
