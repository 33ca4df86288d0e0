// Package lost has the command that finds orphans, rows whose row above is gone, and the same search beside
// a worker.
//
// Open this package when a command about what belongs to nothing changes.
package lost

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
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
	Check   bool         `help:"Exit with 1 if a row is missing, for a cron job or a timer with an alarm."`
	Enqueue bool         `help:"Queue a job for each missing row, so that a worker deletes what is below it."`
	Table   string       `placeholder:"NAME" help:"Only rows of this table or resource."`
	Limit   *shell.Limit `placeholder:"N" help:"Stop after N missing rows."`
	After   string       `placeholder:"POSITION" help:"Go on where a search was ended."`
	JSON    bool         `name:"json" help:"Print a JSON array."`
}

// orphansPerPage is how many jobs are queued in a transaction.
const orphansPerPage = 500

// flushEvery is how long a row that was found waits at most until it is queued, but for the time that a page
// takes.
const flushEvery = time.Second

// Run prints the missing rows.
func (c *Orphans) Run(ctx context.Context, a *shell.App, plan schema.Plan, db *sql.DB) error {
	s := &orphanSearch{Orphans: c, db: db, plan: plan, position: c.After, flushed: time.Now()}
	list, show := &stream{a: a, json: c.JSON}, shell.NewCounter(a)
	err := inspect.Orphans(ctx, db, plan, inspect.OrphanOptions{Table: c.Table, Limit: int(shell.OrZero(c.Limit)), After: c.After, OnPage: func(edge string, entries int64, next string) {
		s.page(ctx, next)
		show.Say(func() string {
			return fmt.Sprintf("%s missing; %s, entry %s", output.Grouped(s.found), edge, output.Grouped(entries))
		})
	}}, func(o inspect.Orphan) error {
		if s.refused != nil {
			return s.refused
		}
		if err := list.add(o); err != nil {
			return err
		}
		return s.add(ctx, o)
	})
	if ctx.Err() == nil && (err == nil || s.refused == nil) {
		err = errors.Join(err, s.flush(ctx))
	}
	s.cut = err != nil
	err = errors.Join(err, list.end())
	switch {
	case errors.Is(err, schema.ErrUnknownResource):
		return usage.Errorf("--table: the plan has no resource or table %q; it has %s", c.Table, strings.Join(plan.Names(), ", "))
	case errors.Is(err, queue.ErrInvalid):
		return usage.Errorf("--after is not a position that this command has printed for this plan and --table")
	}
	err = fit.Explained(ctx, db, plan, err)
	if perr := a.Note("%s", s.summary()); perr != nil {
		return errors.Join(err, perr)
	}
	if err == nil && c.Check && s.found > 0 {
		return shell.ErrReported
	}
	return err
}

// orphanSearch is how far a search has come.
type orphanSearch struct {
	*Orphans
	db       *sql.DB
	plan     schema.Plan
	found    int
	searched bool   // a page at least: there is a reference that no foreign key guards
	complete bool   // to the last page
	cut      bool   // by an error
	position string // where to go on: behind it are no rows that are only about to be queued

	waiting []inspect.Orphan // for --enqueue
	done    inspect.EnqueuedOrphans
	flushed time.Time
	refused error // of the last flush: the next row ends the search
}

// page notes a page that was read, and where the next one begins.
func (s *orphanSearch) page(ctx context.Context, next string) {
	s.searched = true
	if time.Since(s.flushed) >= flushEvery {
		s.refused = s.flush(ctx)
	}
	if s.complete = next == ""; len(s.waiting) == 0 {
		s.position = next
	}
}

// add counts a missing row, and queues it with others.
func (s *orphanSearch) add(ctx context.Context, o inspect.Orphan) error {
	s.found++
	if !s.Enqueue {
		return nil
	}
	if s.waiting = append(s.waiting, o); len(s.waiting) == orphansPerPage {
		s.refused = s.flush(ctx)
	}
	return s.refused
}

// flush queues what waits; what is refused goes on waiting.
func (s *orphanSearch) flush(ctx context.Context) error {
	s.flushed = time.Now()
	if len(s.waiting) == 0 {
		return nil
	}
	now, err := inspect.EnqueueOrphans(ctx, s.db, s.plan, s.waiting)
	s.done.Queued += now.Queued
	s.done.Open += now.Open
	s.done.Returned += now.Returned
	s.done.ReportOnly += now.ReportOnly
	if err == nil {
		s.waiting = nil
	}
	return err
}

// sqlText is text as [inspect.Orphan] has it in Values.
var sqlText = regexp.MustCompile(`_utf8mb4 x'([0-9a-f]*)'`)

// readable is SQL with its text as a person reads it.
func readable(sql string) string {
	return sqlText.ReplaceAllStringFunc(sql, func(literal string) string {
		text, err := hex.DecodeString(sqlText.FindStringSubmatch(literal)[1])
		if err != nil {
			return literal
		}
		return "'" + string(text) + "'"
	})
}

func orphanLine(o inspect.Orphan) string {
	what := output.RowName(queue.Job{Resource: o.Resource, ResourceID: o.ID})
	if o.ID == "" {
		what = output.Shorten(output.Printable(o.Resource+" with "+strings.Join(o.Columns, ", ")+" = "+readable(o.Values)), 80)
	}
	line := fmt.Sprintf("%s is missing: %s of %s", what, output.AtLeast(o.Rows, o.AtLeast, "row"), output.Printable(o.Table))
	if o.ReportOnly != "" {
		line += "; nothing can be queued: " + output.Printable(o.ReportOnly)
	}
	return line
}

// summary is what is said at the end.
func (s *orphanSearch) summary() string {
	line, full := "no row is missing", s.Limit != nil && s.found >= int(*s.Limit) && !s.complete
	switch {
	case s.found > 0:
		line = output.Plural(s.found, "missing row")
	case s.cut:
		line = "no missing row found so far"
	case !s.searched && s.After == "":
		line += ": foreign keys guard every reference that this command looks at; there was nothing to search"
	}
	if s.Enqueue && s.found > 0 {
		line += fmt.Sprintf("; %s queued", output.Plural(s.done.Queued, "job")) +
			shell.Some(", %s open already", s.done.Open) + shell.Some(", %s there after all", s.done.Returned) +
			shell.Some(", %s that cannot be queued", s.done.ReportOnly) + shell.Some(", %s not queued yet", len(s.waiting))
	}
	switch {
	case !s.cut && !full:
	case s.position != "" && (s.cut || s.position != s.After):
		line += "; go on with --after " + s.position
	case full && (s.cut || !s.Enqueue): // what was queued is not found again
		line += "; there may be more: raise --limit"
	case full || s.found > 0:
		line += "; there may be more: run it again"
	}
	return line
}
