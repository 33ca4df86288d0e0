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

// maxBundledJobs is how many jobs one batch ends.
const maxBundledJobs = 100

// endSmallJobs ends, in one batch for many, those of the claimed jobs that have little or nothing to delete,
// and takes them off the claim. Each of the others goes its own way afterwards, and so do all of them after
// an error: it is met there again, by the job that it is about.
func (w *Worker) endSmallJobs(ctx context.Context, c *queue.Claim) (worked int) {
	if len(c.Jobs) < 2 {
		return 0
	}
	g, err := w.current(ctx)
	if err != nil {
		return 0
	}
	paused := w.governor.Control().Paused
	small := map[string][]rootedJob{}
	for _, job := range c.Jobs {
		n, ok := g.Nodes[job.Resource]
		if !ok || job.Token != 1 || paused[job.Resource] || !work.Small(n) {
			continue
		}
		if root, err := n.Tables[0].Key.Decode(job.ResourceID); err == nil {
			small[job.Resource] = append(small[job.Resource], rootedJob{job, root})
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(small)) {
		size := maxBundledJobs
		for rest := small[resource]; len(rest) > 1 && ctx.Err() == nil && (worked == 0 || time.Since(c.Looked) < w.cfg.Lease/3); {
			// The governor may have waited for long: rows of a table that is new would be deleted with their
			// parents.
			if now, err := w.current(ctx); err != nil || now.Fingerprint != g.Fingerprint {
				return worked
			}
			b := &bundle{Worker: w, graph: g, claim: c, jobs: rest[:min(len(rest), size)], ended: map[int64]bool{}}
			err := b.run(ctx)
			if err != nil && len(b.ended) == 0 && ctx.Err() == nil {
				w.cfg.Log.InfoContext(ctx, "cascade: jobs are worked one by one", "worker", w.cfg.Name, "resource", resource, "jobs", len(b.jobs), "error", fault.Redact(err))
			}
			worked += len(b.ended)
			c.Jobs = slices.DeleteFunc(c.Jobs, func(job queue.Claimed) bool { return b.ended[job.ID] })
			size = cmp.Or(b.fit, size)
			switch {
			case size == 1: // one has as much as a batch takes: they go their own ways
				rest = nil
			case !b.full: // what is left is special
				rest = rest[len(b.jobs):]
			case len(b.ended) == 0: // the first one has more than a batch takes
				rest = rest[1:]
			default:
				rest = slices.DeleteFunc(rest, func(job rootedJob) bool { return b.ended[job.ID] })
			}
		}
	}
	return worked
}

// rootedJob is a job with the key of its root.
type rootedJob struct {
	queue.Claimed
	root rowkey.Key
}

// bundle is small jobs of one resource that were claimed together, and what one batch has done for them.
type bundle struct {
	*Worker
	graph *graph.Graph
	claim *queue.Claim
	jobs  []rootedJob

	tallies []work.Tally   // by job
	ended   map[int64]bool // by the job's id
	full    bool           // it was the limit of rows that kept others
	fit     int            // how many jobs the next batch should take; 0 after an error
}

// errNotAll means that somebody has taken one of the jobs away.
var errNotAll = errors.New("cascade: not all of the jobs are this claim's any more")

// run is the batch. It proves the claim of all jobs, or changes nothing.
func (b *bundle) run(ctx context.Context) error {
	ids, targets := make([]int64, len(b.jobs)), make([]work.Target, len(b.jobs))
	for i, job := range b.jobs {
		ids[i] = job.ID
		targets[i] = targetOf(job.Claimed, job.root)
	}
	late, cancel := finishing(ctx)
	defer cancel()
	roots, err := work.NewBundle(late, b.db, b.graph, targets)
	if err != nil {
		return err
	}
	var begin time.Time
	var spent time.Duration
	var ended []bool
	full, limit := false, b.limit()
	traced, each, end := startBundle(late, b.jobs)
	err = onerow.InTx(traced, b.db, func(ctx context.Context, tx *onerow.Tx) error {
		begin = time.Now()
		stillClaimed, err := b.claim.Lock(ctx, tx, ids)
		if err == nil && len(stillClaimed) != len(ids) {
			err = errNotAll
		}
		if err != nil {
			return err
		}
		proved := time.Now()
		if b.tallies, ended, full, err = roots.Drop(ctx, tx, limit); err != nil {
			return err
		}
		err = b.note(ctx, tx, ended)
		spent = time.Since(proved)
		return err
	})
	end(&err)
	switch {
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		return b.lookForEnded(late, ids)
	case err != nil:
		return err
	}
	b.full = full
	return b.committed(ctx, late, each, ended, time.Since(begin), spent)
}

// note notes what was deleted for the jobs and which have ended. Up to six statements.
func (b *bundle) note(ctx context.Context, tx *onerow.Tx, ended []bool) error {
	done := make([]queue.Claimed, len(b.jobs))
	for i, job := range b.jobs {
		done[i] = job.Claimed
		done[i].Tables, done[i].Detached = b.tallies[i].Deleted, b.tallies[i].Detached
		if ended[i] {
			done[i].State = queue.Done
		}
	}
	return queue.Note(ctx, tx, b.graph.Fingerprint, done...)
}

// lookForEnded looks which jobs have ended in a batch without an answer: those that are not the claim's any
// more, when a lost attempt has ended.
func (b *bundle) lookForEnded(ctx context.Context, ids []int64) error {
	return onerow.Alone(ctx, b.db, func(ctx context.Context, db onerow.DB) error {
		stillClaimed, err := b.claim.Lock(ctx, db, ids)
		for _, id := range ids {
			if err == nil && !stillClaimed[id] {
				b.ended[id] = true
			}
		}
		return err
	})
}

// committed takes a committed batch into account and tells of it, then waits as the governor says.
func (b *bundle) committed(ctx, late context.Context, each []context.Context, ended []bool, took, spent time.Duration) error {
	all := work.NewTally()
	for _, t := range b.tallies {
		all.Add(t)
	}
	b.pace.Took(took, spent, all.Rows())
	b.tell(Event{Took: took, Deleted: all.Deleted, Detached: all.Detached})
	for i, job := range b.jobs {
		if !ended[i] {
			continue
		}
		b.ended[job.ID] = true
		b.setbacks.end(job.ID)
		b.tell(Event{Ended: queue.Done})
		of := ctx
		if each != nil {
			of = each[i]
		}
		b.cfg.Log.InfoContext(of, "cascade: done", "worker", b.cfg.Name, "job", job.ID, "resource", job.Resource, "id", job.ResourceID)
		if err := b.tellStored(late, job.Job); err != nil {
			return err
		}
	}
	b.fit = fit(len(b.jobs), len(b.ended), all.Rows(), b.full, b.limit())
	return b.governor.Wait(ctx, b.jobs[0].ID, took, func(context.Context) error { return nil })
}

// fit is how many jobs like those that have ended have no more rows than the limit, with a tenth of it to
// spare. A batch locks the roots of all of its jobs and looks below them, whatever it has room for.
func fit(jobs, ended int, rows int64, full bool, limit int) int {
	switch {
	case ended > 0 && rows > 0:
		return int(max(1, min(maxBundledJobs, int64(limit)*9/10*int64(ended)/rows)))
	case full:
		return max(2, jobs/2)
	}
	return maxBundledJobs
}
