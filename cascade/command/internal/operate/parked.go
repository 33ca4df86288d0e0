package operate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
)

// Parked lists the rows that could not be deleted, retries or skips them.
type Parked struct {
	List  parkedListCmd  `cmd:"" help:"List rows that could not be deleted, newest first."`
	Retry parkedRetryCmd `cmd:"" help:"Have rows tried again."`
	Skip  parkedSkipCmd  `cmd:"" help:"Decide that rows stay."`
}

type parkedListCmd struct {
	JSON    bool             `name:"json" help:"Print a JSON array."`
	Job     *shell.JobNumber `placeholder:"JOB" help:"Only rows of this job."`
	Skipped bool             `help:"Also rows that were skipped."`
	Limit   shell.Limit      `default:"50" placeholder:"N" help:"How many rows at most (50)."`
}

func (c *parkedListCmd) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	none, o := "no parked rows", queue.ParkedOptions{Open: !c.Skipped}
	if c.Job != nil {
		none += fmt.Sprintf(" of job %d", *c.Job)
		o.JobID = new(int64(*c.Job))
		if _, err := queue.Get(ctx, db, *o.JobID); err != nil {
			return shell.JobError(*c.Job, err)
		}
	}
	all, err := shell.ReadPages(c.Limit, func(last queue.Parked, limit int) ([]queue.Parked, error) {
		o.After, o.Limit = last.ID, limit
		return queue.ListParked(ctx, db, o)
	})
	if err != nil {
		return err
	}
	return shell.PrintList(a, c.JSON, all, none, []string{">PARKED", "STATE", "ROW", ">JOB", "OF", "SINCE", "ERROR"}, func(p queue.Parked) []string {
		return []string{fmt.Sprint(p.ID), parkedState(p), output.Shorten(output.Printable(p.Table), 40) + " " + output.RowKey(p.Key), fmt.Sprint(p.JobID),
			output.RowName(queue.Job{Resource: p.Resource, ResourceID: p.ResourceID}), output.Moment(p.ParkedAt), output.Shorten(output.OneLine(p.Error), 160)}
	})
}

func parkedState(p queue.Parked) string {
	if p.Skipped {
		return "skipped"
	}
	return "parked"
}

// parkedArgs are the rows that a verb is about.
type parkedArgs struct {
	shell.ActorFlags
	Parked []int64 `arg:"" name:"parked" help:"Numbers of parked rows, as parked list prints them."`
}

type parkedRetryCmd struct{ parkedArgs }

func (c *parkedRetryCmd) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	return c.each(ctx, a, db, "will be tried again", queue.RetryParked)
}

type parkedSkipCmd struct{ parkedArgs }

func (c *parkedSkipCmd) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	return c.each(ctx, a, db, "stays, with what is above it", queue.SkipParked)
}

// Validate refuses what cannot be a parked row's number.
func (c parkedArgs) Validate() error {
	for _, id := range c.Parked {
		if id < 0 {
			return usage.Errorf("%d is no parked row's number: see %s parked list", id, output.ProgramName)
		}
	}
	return nil
}

// each does one row after another. What cannot be done is said, and the others are done.
func (c parkedArgs) each(ctx context.Context, a *shell.App, db *sql.DB, done string, verb func(context.Context, onerow.DB, int64) (queue.Job, error)) error {
	var failed []error
	for _, id := range c.Parked {
		job, err := verb(ctx, db, id)
		if err == nil {
			err = a.Say("parked row %d %s; job %d (%s) is %s", id, done, job.ID, output.RowName(job), jobState(job))
		}
		if err != nil {
			failed = append(failed, parkedError(id, err))
			if ctx.Err() != nil {
				break
			}
		}
	}
	return errors.Join(failed...)
}

// parkedError says in the words of this program why nothing was done.
func parkedError(id int64, err error) error {
	switch {
	case errors.Is(err, onerow.ErrNotFound):
		return fmt.Errorf("there is no parked row %d, or it is being tried again already: see %s parked list", id, output.ProgramName)
	case errors.Is(err, queue.ErrNoJob):
		return fmt.Errorf("the job of parked row %d is gone", id)
	case errors.Is(err, queue.ErrOpenJob):
		return fmt.Errorf("parked row %d: its job is not needed any more: the newer %w for the same row is open and does its work", id, output.Detail(err, queue.ErrOpenJob))
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		return fmt.Errorf("%w; the same command again is safe", err)
	}
	return err
}
