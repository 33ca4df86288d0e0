package cascade

import (
	"context"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// lease is a job that this worker has claimed: what it may do under its token, and what has come of it.
type lease struct {
	*Worker
	job   queue.Claimed
	graph *graph.Graph // that it was begun under
	root  rowkey.Key

	shown   queue.Job   // how far the job is, for Progress
	stale   bool        // shown is to be read: it was not yet, or an outcome was unknown
	planned bool        // the plan's fingerprint is stored with the job
	state   queue.State // where the job went
	fenced  time.Time   // when the lease was renewed last
	turn    turn
}

// begin takes up a job: under the plan and the tables as they are, which must be those that an earlier
// attempt has begun it under.
func (w *Worker) begin(ctx context.Context, job queue.Claimed) (*lease, error) {
	l := &lease{Worker: w, job: job, fenced: time.Now(), stale: true}
	err := backoff.Read(ctx, func() (err error) {
		l.graph, err = w.current(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	n, ok := l.graph.Nodes[job.Resource]
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: job %d is for %q; this worker's plan has %q", schema.ErrUnknownResource, job.ID, job.Resource, w.plan.Names())
	case n.Stays:
		return nil, fmt.Errorf("%w: job %d is for %q, whose rows stay", schema.ErrInvalidPlan, job.ID, job.Resource)
	}
	if l.root, err = n.Tables[0].Key.Decode(job.ResourceID); err != nil {
		return nil, fmt.Errorf("cascade: the id of job %d: %w", job.ID, err)
	}
	if l.planned = job.Plan == l.graph.Fingerprint; job.Plan != "" && !l.planned {
		return nil, l.drifted(job.Plan, readPlan(ctx, l.db, job.Plan), l.graph)
	}
	return l, nil
}

// fence proves the lease token and renews the lease, at the beginning of a batch; of the first one with the
// plan.
func (l *lease) fence(ctx context.Context, db onerow.DB, plan string) error {
	if err := l.job.Renew(ctx, db, plan); err != nil {
		return err
	}
	l.fenced = time.Now()
	return nil
}

// Renew is a batch that deletes nothing, for work that takes long. One statement.
func (l *lease) Renew(ctx context.Context) error {
	return backoff.Read(ctx, func() error { return l.fence(ctx, l.db, "") })
}

// minRenewal is the shortest interval at which Keep renews. A lease that is renewed too late is taken by
// another worker before this one has read down to what can go. One under three times minRenewal would be
// renewed before almost every read: it is renewed after rareRenewal only, and may be lost.
const (
	minRenewal  = 100 * time.Millisecond
	rareRenewal = 3 * time.Second
)

// Keep renews the lease once a third of it has passed, of a very short one after rareRenewal. Reading goes on
// for long below deep trees, without a batch. It waits as the governor says, too, which asks by its own
// clock.
func (l *lease) Keep(ctx context.Context) error {
	after := l.cfg.Lease / 3
	if after < minRenewal {
		after = rareRenewal
	}
	if time.Since(l.fenced) >= after {
		if err := l.Renew(ctx); err != nil {
			return err
		}
		if err := l.drift(ctx); err != nil {
			return err
		}
	}
	return l.wait(ctx, 0)
}

// wait waits as the governor says, after a batch that took so long.
func (l *lease) wait(ctx context.Context, took time.Duration) error {
	if err := l.governor.Wait(ctx, l.job.ID, took, l.Renew); err != nil {
		return err
	}
	if l.governor.Control().Paused[l.job.Resource] {
		return fault.ErrPaused
	}
	return nil
}

// limit is how many leaf rows a batch may have now.
func (w *Worker) limit() int { return w.pace.Limit(w.governor.Target()) }

// Limit is how many leaf rows a batch may have now.
func (l *lease) Limit() int { return l.limit() }

// End moves the job to the archive, in its last batch.
func (l *lease) End(ctx context.Context, tx *onerow.Tx, state queue.State, why string) error {
	l.state = state
	return l.job.End(ctx, tx, state, why)
}

// Parked tells of a row that was parked.
func (l *lease) Parked(ctx context.Context, table, key, cause string) {
	l.tell(Event{ParkedIn: table})
	l.cfg.Log.WarnContext(ctx, "cascade: parked a row", "job", l.job.ID, "table", table, "key", key, "error", cause)
}
