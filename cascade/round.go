package cascade

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/rowkey"
)

// RunOnce claims jobs that are due ([Config].ClaimJobs), ends those together that have little to delete,
// works the others one after another, each for a turn if others wait ([Config].Turn), and returns how many it
// worked on, whatever came of them. An error means that the queue could not be read or written, that the plan
// does not fit the database, or that the server refuses for the state that it is in ([queue.IsServerState]),
// and every job, or each that was claimed. What goes wrong with a job is stored with it. When ctx ends it
// gives back what it has not finished, without an error.
func (w *Worker) RunOnce(ctx context.Context) (worked int, err error) {
	worked, _, err = w.round(w.governor.Count(ctx))
	return worked, err
}

// round is RunOnce; it also says how many due jobs it saw.
func (w *Worker) round(ctx context.Context) (worked, seen int, err error) {
	begin := time.Now()
	size := max(w.cfg.ClaimJobs, int(w.more.Load()))
	c, err := w.claim(ctx, size)
	if err != nil {
		if ctx.Err() != nil {
			w.cfg.Log.InfoContext(ctx, "cascade: nothing claimed", "worker", w.cfg.Name, "error", fault.Redact(err))
			return 0, c.Seen, nil
		}
		return 0, c.Seen, fault.Explained(err)
	}
	worked = w.endSmallJobs(ctx, &c)
	w.claimMore(size, worked, len(c.Jobs))
	var refused *turnError
	passed := worked > 0
	for i, job := range c.Jobs {
		// What waits too long would lose its lease while others are idle.
		if why := w.leaves(ctx, err, i > 0 && time.Since(begin) > w.cfg.Lease/3); why != "" {
			w.cfg.Log.InfoContext(ctx, "cascade: given back", "worker", w.cfg.Name, "jobs", len(c.Jobs)-i, "why", why)
			return worked, c.Seen, errors.Join(err, w.release(ctx, c, c.Jobs[i:]))
		}
		worked++
		job.Begun = true
		if err = w.attempt(ctx, c, job, i+1 < len(c.Jobs)); errors.As(err, &refused) {
			err = nil
			continue
		}
		passed = true
	}
	if refused != nil && !passed {
		err = refused.error // all of them: it may be no job's own, so the worker pauses
	}
	return worked, c.Seen, err
}

// leaves says why the worker gives back those jobs of a claim that it has not begun, or nothing.
func (w *Worker) leaves(ctx context.Context, err error, late bool) string {
	switch {
	case ctx.Err() != nil:
		return whyStopped
	case err != nil:
		return "what the job before them has met they would meet, too: " + fault.Redact(err)
	case late:
		return "the jobs before them took long, and their lease would end"
	}
	return ""
}

const whyStopped = "the worker stops"

// claimMore has the next claim take twice as many jobs if all of this one were small.
func (w *Worker) claimMore(size, worked, left int) {
	if worked == 0 || left > 0 {
		size = 0
	}
	w.more.Store(int32(min(2*size, maxBundledJobs))) //nolint:gosec // at most a hundred
}

func targetOf(job queue.Claimed, root rowkey.Key) work.Target {
	return work.Target{JobID: job.ID, Resource: job.Resource, ResourceID: job.ResourceID, Root: root, DeletionID: job.DeletionID, Begun: job.Token > 1, Due: job.From == queue.FromDue}
}

// work works one job to its end, or to that of its turn. The error is nil when the job is done, or done but
// for leftovers. others says that some wait that the worker has claimed with it.
func (w *Worker) work(ctx context.Context, job queue.Claimed, others bool) error {
	l, err := w.begin(ctx, job)
	if err != nil {
		return err
	}
	l.turn = turn{begun: time.Now(), others: others}
	target := targetOf(job, l.root)
	target.Due = target.Due && !l.planned
	return work.Do(ctx, w.db, l.graph, target, l, w.cfg.Assets, work.Limits{Chunk: w.cfg.Chunk, MaxParked: w.cfg.MaxParked})
}

// settle stores what becomes of a job after an attempt, see fault.FateOf. The error ends the round, unless it
// is a [turnError].
func (w *Worker) settle(ctx context.Context, c queue.Claim, job queue.Claimed, err error) error {
	fate, refused, err := fault.FateOf(err, ctx.Err() != nil), fault.ServerState(err), fault.Explained(err)
	if refused == nil {
		w.setbacks.end(job.ID)
	}
	log := w.logOf(job)
	switch fate {
	case fault.Done:
		log.InfoContext(ctx, "cascade: done")
	case fault.Lost:
		w.lost(ctx, job)
		return nil
	case fault.GivenBack:
		why := fault.Redact(err)
		if cause := context.Cause(ctx); cause != nil {
			if why = whyStopped; !errors.Is(err, cause) {
				why += "; it has met: " + fault.Redact(err)
			}
		}
		log.InfoContext(ctx, "cascade: given back", "why", why)
		return w.release(ctx, c, []queue.Claimed{job})
	case fault.Postponed:
		log.WarnContext(ctx, "cascade: postponed", "error", fault.Redact(err))
		return w.store(ctx, job, queue.Ready, 0, err, backoff.Jitter(postponement))
	case fault.PostponedWithAll:
		level := slog.LevelWarn
		if errors.Is(err, fault.ErrMisfit) { // somebody has to mend the plan or the tables
			level = slog.LevelError
		}
		log.Log(ctx, level, "cascade: postponed", "error", fault.Redact(err))
		return errors.Join(w.store(ctx, job, queue.Ready, 0, err, backoff.Jitter(postponement)), err)
	case fault.Rests:
		log.WarnContext(ctx, "cascade: postponed", "error", fault.Redact(err))
		if refused.Statement() {
			w.pace.Slower()
		}
		if failed := w.store(ctx, job, queue.Ready, 0, err, backoff.After(w.setbacks.another(job.ID))); failed != nil {
			return errors.Join(failed, err)
		}
		return &turnError{err}
	case fault.Failed, fault.Dead:
		log.ErrorContext(ctx, "cascade: failed", "failures", job.Failures+1, "error", fault.Redact(err))
		if err := w.fail(ctx, job, err, fate == fault.Dead); err != nil {
			return err
		}
	}
	return w.tellStored(ctx, job.Job)
}

// logOf is the log of what becomes of a job.
func (w *Worker) logOf(job queue.Claimed) *slog.Logger {
	return w.cfg.Log.With("worker", w.cfg.Name, "job", job.ID, "resource", job.Resource, "id", job.ResourceID)
}

// lost says who has the job now. That an operator has taken it away is not a lease that was too short.
func (w *Worker) lost(ctx context.Context, job queue.Claimed) {
	log := w.logOf(job)
	if stored, err := queue.Get(ctx, w.db, job.ID); err == nil && slices.Contains([]queue.State{queue.OnPause, queue.Held, queue.Cancelled, queue.Restored}, stored.State) {
		log.InfoContext(ctx, "cascade: taken away by an operator", "state", stored.State)
		return
	}
	log.WarnContext(ctx, "cascade: another worker has the job")
	w.tell(Event{LeaseLost: true})
}

// tellStored tells the job as it is stored now.
func (w *Worker) tellStored(ctx context.Context, job queue.Job) error {
	if !w.cfg.Progress {
		return nil
	}
	ctx, cancel := finishing(ctx)
	defer cancel()
	stored, err := queue.Get(ctx, w.db, job.ID)
	if err != nil {
		return err
	}
	w.tell(Event{Progress: &stored})
	return nil
}
