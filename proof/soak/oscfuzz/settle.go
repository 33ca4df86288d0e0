package oscfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/schema/adopt"
	"github.com/onerow/onerow/schema/live"
)

// drainTime is how long the queue may take to drain: a job that has failed rests for minutes at most.
const drainTime = 90 * time.Second

// drift is in the error of a job that has died because a trigger came or went while it was at work. Such a
// one is retried, as the operators are told; each other dead job is a finding.
const drift = "the plan or the schema has changed under the job"

const (
	sqlOpen = `SELECT COUNT(*) FROM onerow_job WHERE state NOT IN ('held', 'dead', 'leftovers')`
	sqlDead = `SELECT CONCAT(id, ' ', state, ' ', COALESCE(last_error, '')) FROM (SELECT id, state, last_error FROM onerow_job
UNION ALL SELECT id, state, last_error FROM onerow_job_archive) AS j WHERE state IN ('dead', 'leftovers')`
	sqlParked = `SELECT CONCAT('job ', job_id, ': ', error) FROM onerow_parked`
)

// retryDead has those jobs work again that have died of drift.
func (w *world) retryDead(ctx context.Context) error {
	dead, err := w.names(ctx, sqlDead)
	for _, text := range dead {
		var id int64
		if _, err := fmt.Sscan(text, &id); err != nil {
			return fmt.Errorf("soak: %w: %s", err, text)
		}
		if !strings.Contains(text, drift) {
			w.found.Add(brokenDead, "%s", text)
		}
		w.count("died", errors.New(text[:min(len(text), 260)]))
		if _, err := queue.Retry(ctx, w.db, id); err != nil && !refused(err) && !errors.Is(err, queue.ErrWrongState) {
			return fmt.Errorf("soak: %w", err)
		}
	}
	return err
}

// mostBack is how many trees come back at the end: one after the other, and each reads the catalog.
const mostBack = 2000

// settle waits until all is done, and judges; then what was deleted comes back, and all is judged again.
func (w *world) settle(ctx context.Context) error {
	w.now.Store("nothing: it is drained")
	w.ended.Store(0)
	if err := w.drain(ctx); err != nil {
		return err
	}
	trees := w.trees(deleted, opened)
	for _, t := range trees {
		if t.state == opened { // its restore was refused, and holds the job
			w.finish(ctx, t)
		}
	}
	if err := w.judge(ctx); err != nil {
		return err
	}
	for i, t := range trees {
		if t.state != alive && i%(len(trees)/mostBack+1) == 0 { // of many, some of each client
			w.finish(ctx, t)
		}
	}
	if err := w.filled(ctx); err != nil {
		return err
	}
	if err := w.judge(ctx); err != nil {
		return err
	}
	return w.left(ctx)
}

// trees are those of all clients in these states.
func (w *world) trees(states ...state) (all []*tree) {
	for _, c := range w.clients {
		for _, t := range c.trees {
			for _, s := range states {
				if t.state == s {
					all = append(all, t)
				}
			}
		}
	}
	return all
}

// drain waits until the workers have done all that is open.
func (w *world) drain(ctx context.Context) error {
	left, err := fuzz.Drained(ctx, drainTime, func() (open int, err error) {
		if err = w.retryDead(ctx); err == nil {
			err = w.admin.QueryRowContext(ctx, sqlOpen).Scan(&open)
		}
		return open, err
	})
	if err == nil && left > 0 {
		w.found.Add(brokenQueue, "%d jobs are open, and none has ended for %v", left, drainTime)
	}
	return err //nolint:wrapcheck // it says all
}

// finish brings a tree back that must come back now.
func (w *world) finish(ctx context.Context, t *tree) {
	err := w.patient(ctx, func() error { return w.bringBack(ctx, t, 1000) })
	w.count("restore", err)
	if err != nil {
		w.found.Add(brokenRestore, "job %d of project %d, at the end: %v", t.job, t.id, err)
	}
}

// judge holds all tables against what the oracle knows, and the jobs against what they have deleted.
func (w *world) judge(ctx context.Context) error {
	want := rows{}
	for _, t := range w.trees(alive, deleted, opened) {
		t.want(want)
	}
	have, err := read(ctx, w.admin, nil)
	if err != nil {
		return err
	}
	for _, d := range have.differences(want) {
		w.found.Add(brokenRow, "%s", d)
	}
	for _, t := range w.trees(deleted) {
		job, err := queue.Get(ctx, w.db, t.job)
		if err != nil {
			return err //nolint:wrapcheck // it says all
		}
		if told := t.account(job); told != "" {
			w.found.Add(brokenCounts, "%s", told)
		}
	}
	for _, query := range []string{sqlDead, sqlParked} {
		all, err := w.names(ctx, query)
		if err != nil {
			return err
		}
		for _, text := range all {
			w.found.Add(brokenDead, "%s", text)
		}
	}
	return nil
}

// account holds a job that has ended against the tree that it has deleted.
func (t *tree) account(job queue.Job) string {
	if job.State == queue.Done && job.DeletedRows == t.below() && job.DetachedRows == int64(len(t.links)) {
		return ""
	}
	return fmt.Sprintf("job %d is %s, has deleted %d rows of %d and detached %d of %d", t.job, job.State, job.DeletedRows, t.below(), job.DetachedRows, len(t.links))
}

// filled ends the backfill: all keys are there, and may be NOT NULL; and verify is clean.
func (w *world) filled(ctx context.Context) error {
	r, err := adopt.Backfill(ctx, w.db, w.planNow(), "ticket", adopt.Options{})
	if err != nil || !r.Whole {
		w.found.Add(brokenFill, "the last backfill: %v, %+v", err, r)
		return nil
	}
	for _, table := range []string{"ticket", "ticket_archive"} {
		err := onerow.Query(ctx, w.db, "SELECT id, title, COALESCE("+keyColumns[0]+", '') FROM "+table, nil, func(rows *sql.Rows) error {
			var id int64
			var title, key string
			if err := rows.Scan(&id, &title, &key); err != nil {
				return err //nolint:wrapcheck // it says all
			}
			if want, err := names.KindName.Key(title); err != nil || key != want {
				w.found.Add(brokenFill, "%s %d: the key of %q is %q, not %q (%v)", table, id, title, key, want, err)
			}
			return nil
		})
		if err != nil {
			return err //nolint:wrapcheck // it says all
		}
	}
	if err := w.patient(ctx, func() error { return w.shop.contract(ctx, w.admin) }); err != nil {
		return err
	}
	if err := live.Verify(ctx, w.db, w.planNow()); err != nil {
		w.found.Add(brokenVerify, "at the end: %v", err)
	}
	return nil
}

// left finds what the changes have left: tables, triggers, values in new columns.
func (w *world) left(ctx context.Context) error {
	for _, query := range []string{
		`SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = DATABASE()`,
		`SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE '\_%'`,
	} {
		all, err := w.names(ctx, query)
		if err != nil {
			return err
		}
		for _, name := range all {
			w.found.Add(brokenLeftover, "%s", name)
		}
	}
	for i, tables := range w.shop.families() {
		for _, column := range w.columns[w.shop.plan.Nodes()[i].Name] {
			for _, table := range tables {
				var n int64
				err := w.admin.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+ident.Quote(table)+" WHERE NOT ("+ident.Quote(column)+" <=> 7)").Scan(&n) //nolint:gosec // quoted
				if err != nil {
					return fmt.Errorf("soak: %s.%s: %w", table, column, err)
				}
				if n > 0 {
					w.found.Add(brokenBystand, "%d rows of %s have another %s", n, table, column)
				}
			}
		}
	}
	return nil
}
