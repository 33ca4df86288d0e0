package cascade

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/rowkey"
)

// most is how many jobs one batch ends.
const most = 100

// together ends, in one batch for many, those of the claimed jobs that have little or nothing to delete, and
// takes them off the claim. Each of the others goes its own way afterwards, and so do all of them after an
// error: it is met there again, by the job that it is about.
func (w *Worker) together(ctx context.Context, c *queue.Claim) (worked int) {
	if len(c.Jobs) < 2 {
		return 0
	}
	g, err := w.current(ctx)
	if err != nil {
		return 0
	}
	paused := w.governor.Control().Paused
	small := map[string][]rooted{}
	for _, job := range c.Jobs {
		n, ok := g.Nodes[job.Resource]
		if !ok || job.Token != 1 || paused[job.Resource] || !work.Small(n) {
			continue
		}
		if root, err := n.Tables[0].Key.Decode(job.ResourceID); err == nil {
			small[job.Resource] = append(small[job.Resource], rooted{job, root})
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(small)) {
		size := most
		for rest := small[resource]; len(rest) > 1 && ctx.Err() == nil && (worked == 0 || time.Since(c.Looked()) < w.cfg.Lease/3); {
			jobs := rest[:min(len(rest), size)]
			done, err := w.endTogether(ctx, g, c, jobs)
			if err != nil && len(done.ended) == 0 && ctx.Err() == nil {
				w.cfg.Log.InfoContext(ctx, "cascade: jobs are worked one by one", "worker", w.cfg.Name, "resource", resource, "jobs", len(jobs), "error", fault.Redact(err))
			}
			worked += len(done.ended)
			size = cmp.Or(done.fit, size)
			c.Jobs = slices.DeleteFunc(c.Jobs, func(job queue.Claimed) bool { return done.ended[job.ID] })
			switch {
			case size == 1: // one has as much as a batch takes: they go their own ways
				rest = nil
			case !done.full: // what is left is special
				rest = rest[len(jobs):]
			case len(done.ended) == 0: // the first one has more than a batch takes
				rest = rest[1:]
			default:
				rest = append(slices.DeleteFunc(jobs, func(job rooted) bool { return done.ended[job.ID] }), rest[len(jobs):]...)
			}
		}
	}
	return worked
}

// bundled is what a batch of many jobs did.
type bundled struct {
	ended map[int64]bool
	full  bool // it was the limit of rows that kept others
	fit   int  // how many jobs the next batch should take; 0 after an error
}

// fit is how many jobs like those that have ended have no more rows than the limit, with a tenth of it to
// spare. A batch locks the roots of all of its jobs and looks below them, whatever it has room for.
func fit(jobs, ended int, rows int64, full bool, limit int) int {
	switch {
	case ended > 0 && rows > 0:
		return int(max(1, min(most, int64(limit)*9/10*int64(ended)/rows)))
	case full:
		return max(2, jobs/2)
	}
	return most
}

// rooted is a job with the key of its root.
type rooted struct {
	queue.Claimed
	root rowkey.Key
}

// errNotAll: somebody has taken one of the jobs away.
var errNotAll = errors.New("cascade: not all of the jobs are this claim's any more")

// endTogether is the batch. It proves the claim of all jobs, or changes nothing.
func (w *Worker) endTogether(ctx context.Context, g *graph.Graph, c *queue.Claim, jobs []rooted) (res bundled, err error) {
	ids, targets := make([]int64, len(jobs)), make([]work.Target, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
		targets[i] = work.Target{JobID: job.ID, Resource: job.Resource, ResourceID: job.ResourceID, Root: job.root, DeletionID: job.DeletionID, Due: job.From == queue.FromDue}
	}
	late, cancel := finishing(ctx)
	defer cancel()
	bundle, err := work.NewBundle(late, w.db, g, targets)
	if err != nil {
		return res, err
	}
	var tallies []work.Tally
	var ended []bool
	var begin time.Time
	var spent time.Duration
	limit := w.pace.Limit(w.governor.Target())
	err = onerow.InTx(late, w.db, func(ctx context.Context, tx *onerow.Tx) error {
		begin = time.Now()
		ours, err := c.Lock(ctx, tx, ids)
		if err == nil && len(ours) != len(ids) {
			err = errNotAll
		}
		if err != nil {
			return err
		}
		proved := time.Now()
		if tallies, ended, res.full, err = bundle.Drop(ctx, tx, limit); err != nil {
			return err
		}
		var begun, done []int64 // begun, and not done
		for i, job := range jobs {
			switch {
			case ended[i]:
				done = append(done, job.ID)
			case tallies[i].Rows() > 0:
				begun = append(begun, job.ID)
			}
		}
		if err := w.noteAll(ctx, tx, g, c, jobs, tallies, begun, done); err != nil {
			return err
		}
		spent = time.Since(proved)
		return nil
	})
	if errors.Is(err, onerow.ErrOutcomeUnknown) {
		res.full = false
		res.ended, err = w.gone(late, c, ids)
		return res, err
	}
	if err != nil {
		return bundled{}, err
	}
	all := work.NewTally()
	for _, t := range tallies {
		all.Add(t)
	}
	rows, took := all.Rows(), time.Since(begin)
	w.pace.Took(took, spent, rows)
	w.tell(Batch{Took: took, Deleted: all.Deleted, Detached: all.Detached})
	res.ended = map[int64]bool{}
	for i, job := range jobs {
		if !ended[i] {
			continue
		}
		res.ended[job.ID] = true
		w.setbacks.end(job.ID)
		w.tell(Ended{queue.Done})
		w.cfg.Log.InfoContext(ctx, "cascade: done", "worker", w.cfg.Name, "job", job.ID, "resource", job.Resource, "id", job.ResourceID)
		if err := w.ended(late, job.Job); err != nil {
			return res, err
		}
	}
	res.fit = fit(len(jobs), len(res.ended), rows, res.full, w.pace.Limit(w.governor.Target()))
	return res, w.governor.Wait(ctx, jobs[0].ID, took, func(context.Context) error { return nil })
}

// noteAll notes under which plan the jobs were begun and what was deleted for them, moves those that are
// done to the archive and fences the others. Up to six statements.
func (w *Worker) noteAll(ctx context.Context, tx *onerow.Tx, g *graph.Graph, c *queue.Claim, jobs []rooted, tallies []work.Tally, begun, done []int64) error {
	if len(begun)+len(done) == 0 {
		return nil
	}
	if err := queue.StorePlan(ctx, tx, g.Fingerprint, append(slices.Clone(begun), done...)...); err != nil {
		return err
	}
	if err := c.RenewAll(ctx, tx, w.claimant(), begun); err != nil {
		return err
	}
	if err := c.EndAll(ctx, tx, w.claimant(), done); err != nil {
		return err
	}
	counted := make([]queue.Counted, len(jobs))
	for i, t := range tallies {
		counted[i] = queue.Counted{JobID: jobs[i].ID, Deleted: t.Deleted, Detached: t.Detached}
	}
	return queue.Count(ctx, tx, counted...)
}

// gone says which jobs of a claim have ended in a batch without an answer: those that are not the claim's any
// more, when a lost attempt has ended.
func (w *Worker) gone(ctx context.Context, c *queue.Claim, ids []int64) (map[int64]bool, error) {
	var ours map[int64]bool
	err := onerow.Alone(ctx, w.db, func(ctx context.Context, db onerow.DB) (err error) {
		ours, err = c.Lock(ctx, db, ids)
		return err
	})
	if err != nil {
		return nil, err
	}
	gone := map[int64]bool{}
	for _, id := range ids {
		if !ours[id] {
			gone[id] = true
		}
	}
	return gone, nil
}
