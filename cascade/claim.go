package cascade

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/onerow/onerow/cascade/queue"
)

const (
	candidatesPerJob = 10
	maxCandidates    = 1000
)

// due returns up to limit jobs of the plan's resources that are due, those that are due longest first, but
// for resources that are paused. One statement, none if all of them are.
func (w *Worker) due(ctx context.Context, limit int) (queue.Claim, error) {
	paused := w.governor.Control().Paused
	resources := slices.DeleteFunc(w.plan.Names(), func(name string) bool { return paused[name] })
	return queue.Due(ctx, w.db, resources, limit)
}

// claim claims up to size due jobs of the plan's resources. It reads more candidates than it wants and takes
// the longest-waiting job first, so none starves, and others at random, so that workers seldom want the same
// ones. sqlClaim of package queue decides. One statement when nothing is due, else 6, and 1 more for as many
// jobs that others hold. A claim whose outcome stays unknown leaves jobs that are due again when the lease
// ends.
func (w *Worker) claim(ctx context.Context, size int) (queue.Claim, error) {
	c, err := w.due(ctx, min(size*candidatesPerJob, max(maxCandidates, size)))
	if err != nil {
		return queue.Claim{}, fmt.Errorf("cascade: look for due jobs: %w", err)
	}
	if len(c.Due) == 0 {
		return c, nil
	}
	if len(c.Due) > size {
		rest := c.Due[1:]
		rand.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] }) //nolint:gosec // spreads workers, not a secret
	}
	// From here on the context's end would leave jobs claimed by nobody.
	ctx, cancel := finishing(ctx)
	defer cancel()
	err = c.Take(ctx, w.db, w.cfg.Name, w.cfg.Lease, size)
	for _, job := range c.Jobs {
		if job.Had != 0 {
			w.cfg.Log.WarnContext(ctx, "cascade: a job had the id of a finished one and got another; AUTO_INCREMENT of onerow_job has been raised",
				"worker", w.cfg.Name, "job", job.ID, "had", job.Had)
		}
	}
	return c, err
}

// release gives jobs back at once, also when ctx has ended. One statement.
func (w *Worker) release(ctx context.Context, c queue.Claim, jobs []queue.Claimed) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	return c.Release(ctx, w.db, jobs)
}
