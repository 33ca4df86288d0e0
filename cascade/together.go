package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/work"
)

// most is how many jobs one batch ends.
const most = 100

// together ends, in one batch for many, those of the claimed jobs that have little or nothing to delete, and
// takes them off the claim. Each of the others goes its own way afterwards, and so do all of them after an
// error: it is met there again, by the job that it is about.
func (w *Worker) together(ctx context.Context, c *claim) (worked int) {
	if len(c.jobs) < 2 {
		return 0
	}
	g, err := w.current(ctx)
	if err != nil {
		return 0
	}
	paused := w.governor.Control().Paused
	small := map[string][]Job{}
	for _, job := range c.jobs {
		n, ok := g.Nodes[job.Resource]
		if ok && job.Token == 1 && !paused[job.Resource] && work.Small(n) {
			small[job.Resource] = append(small[job.Resource], job)
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(small)) {
		for jobs := range slices.Chunk(small[resource], most) {
			if len(jobs) < 2 || ctx.Err() != nil || worked > 0 && time.Since(c.looked) > w.cfg.Lease/3 {
				continue
			}
			ended, err := w.endTogether(ctx, g, c, jobs)
			if err != nil {
				w.cfg.Log.InfoContext(ctx, "cascade: jobs are worked one by one", "worker", w.cfg.Name, "resource", resource, "jobs", len(jobs), "error", fault.Redact(err))
			}
			worked += len(ended)
			c.jobs = slices.DeleteFunc(c.jobs, func(job Job) bool { return ended[job.ID] })
		}
	}
	return worked
}

// sqlFenceAll is sqlFence for jobs of one claim that nobody has claimed before, by the primary key.
const sqlFenceAll = `UPDATE onerow_job SET batch_seq = batch_seq + 1, due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE worker = ? AND token = 1 AND state = 'running' AND id IN `

// sqlArchiveAll and sqlDropAll follow on the rows that sqlFenceAll has locked.
const (
	sqlArchiveAll = `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, worker, batch_seq,
  failures, last_error, created_at, started_at, finished_at)
SELECT id, resource, resource_id, deletion_id, 'done', due_at, token, ?, batch_seq, failures, last_error, created_at, started_at, UTC_TIMESTAMP(6)
FROM onerow_job FORCE INDEX (PRIMARY) WHERE id IN `
	sqlDropAll = `DELETE j FROM onerow_job AS j FORCE INDEX (PRIMARY) WHERE j.id IN `
)

// errNotAll: somebody has taken one of the jobs away.
var errNotAll = errors.New("cascade: not all of the jobs are this claim's any more")

// endTogether is the batch. The fence proves the claim of all jobs at once, or nothing is changed.
func (w *Worker) endTogether(ctx context.Context, g *graph.Graph, c *claim, jobs []Job) (map[int64]bool, error) {
	ids, targets := make([]int64, len(jobs)), make([]work.Target, len(jobs))
	n := g.Nodes[jobs[0].Resource]
	for i, job := range jobs {
		root, err := n.Tables[0].Key.Decode(job.ResourceID)
		if err != nil {
			return nil, fmt.Errorf("cascade: the id of job %d: %w", job.ID, err)
		}
		ids[i], targets[i] = job.ID, work.Target{JobID: job.ID, Resource: job.Resource, ResourceID: job.ResourceID, Root: root, DeletionID: job.DeletionID, Due: job.from == FromDue}
	}
	late, cancel := finishing(ctx)
	defer cancel()
	bundle, err := work.NewBundle(late, w.db, n, targets)
	if err != nil {
		return nil, err
	}
	var tallies []work.Tally
	var ended []bool
	var done []int64
	var begin, fenced time.Time
	limit := w.pace.Limit(w.governor.Control().Target)
	err = onerow.InTx(late, w.db, func(ctx context.Context, tx *onerow.Tx) error {
		begin, done = time.Now(), nil
		held, err := onerow.Affected(ctx, tx, sqlFenceAll+in(ids), w.cfg.Lease.Microseconds(), c.value)
		if err == nil && held != int64(len(ids)) {
			err = errNotAll
		}
		if err != nil {
			return err
		}
		fenced = time.Now()
		if tallies, ended, err = bundle.Drop(ctx, tx, int64(limit)); err != nil {
			return err
		}
		var changed []int64
		for i, job := range jobs {
			if ended[i] {
				done = append(done, job.ID)
			}
			if ended[i] || tallies[i].Rows() > 0 {
				changed = append(changed, job.ID)
			}
		}
		if len(changed) == 0 {
			return nil
		}
		return w.noteAll(ctx, tx, g, jobs, tallies, changed, done)
	})
	if errors.Is(err, onerow.ErrOutcomeUnknown) {
		return w.gone(late, c, ids)
	}
	if err != nil {
		return nil, err
	}
	rows := int64(0)
	for _, t := range tallies {
		rows += t.Rows()
		for table, deleted := range t.Deleted {
			w.cfg.Observer.Deleted(table, deleted)
		}
		for table, detached := range t.Detached {
			w.cfg.Observer.Detached(table, detached)
		}
	}
	took := time.Since(begin)
	w.pace.Took(took, time.Since(fenced), rows)
	w.cfg.Observer.Batch(took)
	all := map[int64]bool{}
	for i, job := range jobs {
		if !ended[i] {
			continue
		}
		all[job.ID] = true
		w.setbacks.end(job.ID)
		w.cfg.Observer.Ended(Done)
		w.cfg.Log.InfoContext(ctx, "cascade: done", "worker", w.cfg.Name, "job", job.ID, "resource", job.Resource, "id", job.ResourceID)
		if err := w.ended(late, job); err != nil {
			return all, err
		}
	}
	return all, w.governor.Wait(ctx, jobs[0].ID, took, func(context.Context) error { return nil })
}

// noteAll notes under which plan the jobs were begun and what was deleted for them, and moves those that are
// done to the archive. Up to five statements.
func (w *Worker) noteAll(ctx context.Context, tx *onerow.Tx, g *graph.Graph, jobs []Job, tallies []work.Tally, changed, done []int64) error {
	if err := storePlans(ctx, tx, g, changed...); err != nil {
		return err
	}
	if len(done) > 0 {
		if _, err := tx.ExecContext(ctx, sqlArchiveAll+in(done), w.cfg.Name); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, sqlDropAll+in(done)); err != nil {
			return err
		}
	}
	var deleted, detached tables
	for i, t := range tallies {
		deleted.add(jobs[i].ID, t.Deleted)
		detached.add(jobs[i].ID, t.Detached)
	}
	if err := deleted.write(ctx, tx, sqlCount, sqlCountMore); err != nil {
		return err
	}
	return detached.write(ctx, tx, sqlCountDetached, sqlCountMoreDetached)
}

// sqlStillOurs waits for a lost attempt to end, by the primary key.
const sqlStillOurs = `SELECT id FROM onerow_job FORCE INDEX (PRIMARY) WHERE worker = ? AND state = 'running' AND id IN `

// gone says which jobs of a claim have ended in a batch without an answer: those that are not there any more.
func (w *Worker) gone(ctx context.Context, c *claim, ids []int64) (map[int64]bool, error) {
	var all map[int64]bool
	err := onerow.Alone(ctx, w.db, func(ctx context.Context, db onerow.DB) error {
		all = map[int64]bool{}
		for _, id := range ids {
			all[id] = true
		}
		return onerow.Query(ctx, db, sqlStillOurs+in(ids)+" FOR UPDATE", []any{c.value}, func(rows *sql.Rows) error {
			var id int64
			err := rows.Scan(&id)
			delete(all, id)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
