package operate

import (
	"context"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/queue"
)

// Retry makes a job that is dead or has leftovers ready again.
type Retry struct{ shell.JobArg }

// Help is the command's longer description.
func (Retry) Help() string {
	return `A job is dead when it failed ten times in a row, or cannot go on as things are; it ends
as "leftovers" when rows could not be deleted. Retry makes such a job due at once, under
the same number, with the plan that the workers have now; its counts go on, and the rows
that it parked are tried again. Those that were skipped are not. A job that is held goes
on, in its grace period if that has not ended. Nothing else can be retried: other open jobs are tried again by themselves.

Examples:

    cascade-worker jobs --state dead
    cascade-worker retry 17
    cascade-worker parked retry 12    # one row only`
}

// Run retries the job.
func (c *Retry) Run(ctx context.Context, a *shell.App) error {
	return c.Act(ctx, a, queue.Retry, "is %s again")
}

// First has a job worked before all others that are due.
type First struct{ shell.JobArg }

// Help is the command's longer description.
func (First) Help() string {
	return `Has a job that is due, or waits for its next attempt, worked before all others that are due
now. Workers finish the batches and turns that they are in. What is put first after it goes
before it.

Examples:

    cascade-worker first 17 --reason 'erasure, due today'`
}

// Run puts the job first.
func (c *First) Run(ctx context.Context, a *shell.App) error {
	return c.Act(ctx, a, queue.PutFirst, "is first")
}
