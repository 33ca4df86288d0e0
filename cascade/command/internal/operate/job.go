package operate

import (
	"context"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/queue"
)

// Retry makes a job that is dead or has leftovers ready again.
type Retry struct{ shell.JobArg }

// Run retries the job.
func (c *Retry) Run(ctx context.Context, a *shell.App) error {
	return c.Act(ctx, a, queue.Retry, "is %s again", "is %s: only a dead job, a held one, or one with leftovers can be retried")
}

// First has a job worked before all others that are due.
type First struct{ shell.JobArg }

// Run puts the job first.
func (c *First) Run(ctx context.Context, a *shell.App) error {
	return c.Act(ctx, a, queue.PutFirst, "is first", "cannot be put first: it is %s")
}
