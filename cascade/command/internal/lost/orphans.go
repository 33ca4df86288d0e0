// Package lost has the commands that find what belongs to nothing: orphans, rows whose row above is gone,
// also beside a worker, and sweep, assets without rows and rows without assets.
//
// Open this package when a command about what belongs to nothing changes.
package lost

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/cascade/internal/fit"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// Orphans finds rows whose row above is gone.
type Orphans struct {
	shell.PlanFlag
	Check   bool                `help:"Exit with 1 if a row is missing, for a cron job or a timer with an alarm."`
	Enqueue bool                `help:"Queue a job for each missing row, so that a worker deletes what is below it."`
	Table   string              `placeholder:"NAME" help:"Only rows of this table or resource."`
	Limit   shell.OptionalLimit `placeholder:"N" help:"Stop after N missing rows."`
	After   string              `placeholder:"POSITION" help:"Go on where a search was ended."`
	JSON    bool                `name:"json" help:"Print a JSON array."`
}

// orphansPerPage is how many jobs are queued in a transaction.
const orphansPerPage = 500

// flushEvery is how long a row that was found waits at most until it is queued, but for
// the time that a page takes.
const flushEvery = time.Second

// Run prints the missing rows.
func (c *Orphans) Run(ctx context.Context, a *shell.App, plan schema.Plan, db *sql.DB) error {
	list := shell.NewStream(a, c.JSON, orphanLine)
	pending := &orphanQueue{db: db, plan: plan, flushed: time.Now()}
	// Where to go on: behind it are no rows that are only about to be queued.
	show, position := shell.NewCounter(a), c.After
	complete, pages, tables := false, 0, orphanTables{}
	err := inspect.Orphans(ctx, db, plan, inspect.OrphanOptions{Table: c.Table, Limit: int(c.Limit), After: c.After, OnPage: func(edge string, entries int64, next string) {
		pages++
		if time.Since(pending.flushed) >= flushEvery {
			pending.refused = pending.flush(ctx)
		}
		if complete = next == ""; len(pending.waiting) == 0 {
			position = next
		}
		show.Say(func() string {
			return fmt.Sprintf("%s missing; %s, entry %s", output.Grouped(list.Count), edge, output.Grouped(entries))
		})
	}}, func(o inspect.Orphan) error {
		if pending.refused != nil {
			return pending.refused
		}
		if err := list.Add(o); err != nil {
			return err
		}
		tables.add(o)
		if !c.Enqueue {
			return nil
		}
		return pending.add(ctx, o)
	})
	if ctx.Err() == nil && (err == nil || pending.refused == nil) {
		err = errors.Join(err, pending.flush(ctx))
	}
	end := orphansEnd{n: list.Count, guarded: pages == 0 && err == nil && c.After == "", tables: tables, done: pending.done, enqueue: c.Enqueue, waiting: len(pending.waiting),
		cut: err != nil, full: c.Limit > 0 && list.Count >= int(c.Limit) && !complete, after: c.After, position: position}
	err = errors.Join(err, list.End())
	switch {
	case errors.Is(err, schema.ErrUnknownResource):
		return usage.Errorf("--table: the plan has no resource or table %q; it has %s", c.Table, strings.Join(plan.Names(), ", "))
	case errors.Is(err, queue.ErrInvalidConfig):
		return usage.Errorf("--after is not a position that this command has printed for this plan and --table")
	}
	err = fit.Explained(ctx, db, plan, err)
	if perr := a.Note("%s", end.summary()); perr != nil {
		return errors.Join(err, perr)
	}
	if err == nil && c.Check && list.Count > 0 {
		return shell.ErrReported
	}
	return err
}

// orphanQueue is what --enqueue queues, a page at a time.
type orphanQueue struct {
	db      *sql.DB
	plan    schema.Plan
	waiting []inspect.Orphan
	done    inspect.EnqueuedOrphans
	flushed time.Time
	refused error // of the last flush: the next row ends the search
}

func (q *orphanQueue) add(ctx context.Context, o inspect.Orphan) error {
	if q.waiting = append(q.waiting, o); len(q.waiting) < orphansPerPage {
		return nil
	}
	q.refused = q.flush(ctx)
	return q.refused
}

// flush queues what waits; what is refused goes on waiting.
func (q *orphanQueue) flush(ctx context.Context) error {
	q.flushed = time.Now()
	if len(q.waiting) == 0 {
		return nil
	}
	now, err := inspect.EnqueueOrphans(ctx, q.db, q.plan, q.waiting)
	q.done.Queued += now.Queued
	q.done.Open += now.Open
	q.done.Returned += now.Returned
	q.done.ReportOnly += now.ReportOnly
	if err == nil {
		q.waiting = nil
	}
	return err
}
