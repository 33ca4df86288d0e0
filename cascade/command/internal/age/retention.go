// Package age has the commands about age: retention queues the rows that are old by the plan, purge
// removes what the toolkit's own tables keep for a while only.
//
// Open this package when a command about age changes.
package age

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // a plan's zones, wherever the program runs

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/retain"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// Retention shows the rows that are old by the plan, or queues them.
type Retention struct {
	List retentionListCmd `cmd:"" help:"Show each policy of the plan: how many rows are due, the oldest, the next window."`
	Run  retentionRunCmd  `cmd:"" help:"Queue now what is due, or show it with --dry-run."`
}

type retentionListCmd struct {
	shell.PlanFlag
	JSON bool `name:"json" help:"Print a JSON array."`
}

// mostDue is how many rows of a table are counted.
const mostDue = 10_000

// retained is what retention list prints of a policy.
type retained struct {
	retain.Rows
	Policy string `json:"policy"`
	Error  string `json:"error,omitempty"`
}

// newRetainer makes what works the plan's policies, one at least, by one look at the catalog.
func newRetainer(ctx context.Context, plan schema.Plan, db *sql.DB) (*retain.Retainer, error) {
	var known *graph.Graph
	r := retain.New(db, plan, func(context.Context) (_ *graph.Graph, err error) {
		if known == nil {
			known, err = graph.Read(ctx, db, plan)
		}
		return known, err
	})
	if len(r.Names()) == 0 {
		return nil, usage.Errorf("the plan has no retention; see %s retention --help", output.ProgramName)
	}
	return r, nil
}

func (c *retentionListCmd) Run(ctx context.Context, a *shell.App, plan schema.Plan, db *sql.DB) error {
	r, err := newRetainer(ctx, plan, db)
	if err != nil {
		return err
	}
	var all []retained
	var errs []error
	for _, name := range r.Names() {
		due, err := r.Due(ctx, name, mostDue+1)
		p := retained{Rows: due, Policy: due.Policy.String()}
		p.Resource = name
		if err != nil {
			p.Policy, p.Error = "", output.OneLine(err.Error())
			errs = append(errs, fmt.Errorf("%q: %w", name, err))
		}
		all = append(all, p)
	}
	return errors.Join(errors.Join(errs...), shell.PrintList(a, c.JSON, all, "", []string{"RESOURCE", ">DUE", "OLDEST", "WINDOW", "POLICY"}, retained.row))
}

func (p retained) row() []string {
	if p.Error != "" {
		return []string{output.Printable(p.Resource), "", "", "", "failed, see the error"}
	}
	due := output.Grouped(min(p.Due, mostDue))
	if p.Due+p.Undated > mostDue {
		due += "+"
	}
	return []string{output.Printable(p.Resource), due, p.Oldest, output.Window(p.Open, p.Next),
		p.Policy + shell.Some("; %s stay, their date has no month or no day", p.Undated)}
}

type retentionRunCmd struct {
	shell.PlanFlag
	Resource string `arg:"" optional:"" help:"The resource or table; all that have a policy, if none is named."`
	DryRun   bool   `help:"Only show what would be queued: the number, and the ten oldest rows."`
}

func (c *retentionRunCmd) Run(ctx context.Context, a *shell.App, plan schema.Plan, db *sql.DB) error {
	r, err := newRetainer(ctx, plan, db)
	if err != nil {
		return err
	}
	do, names := queueDue, r.Names()
	if c.Resource != "" {
		names = []string{c.Resource}
	}
	if c.DryRun {
		do = showDue
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, do(ctx, a, r, name))
	}
	return shell.Stopped(ctx, errors.Join(errs...))
}

// shownRows is how many rows a dry run names.
const shownRows = 10

// showDue says how many rows are due, and names the oldest.
func showDue(ctx context.Context, a *shell.App, r *retain.Retainer, name string) error {
	var rows [][]string
	n, counter := int64(0), shell.NewCounter(a)
	passed, err := r.DryRun(ctx, name, func(id, age string) error {
		if n++; n <= shownRows {
			rows = append(rows, []string{output.RowName(queue.Job{Resource: name, ResourceID: id}), age})
		}
		counter.Say(func() string { return name + ": " + output.Grouped(n) + " due" })
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if err := a.Say("%s: %s would be queued%s", output.Printable(name), output.Plural(n, "row"), passedWords(passed)); err != nil || n == 0 {
		return err
	}
	return output.Table(a.Stdout, []string{"ROW", "OLD SINCE"}, rows)
}

func passedWords(passed int) string {
	return shell.Some("; %s more stay: of them a job is open, dead or has parked rows, or a deletion was taken back", passed)
}

func queueDue(ctx context.Context, a *shell.App, r *retain.Retainer, name string) error {
	queued, passed, why := int64(0), 0, ""
	counter := shell.NewCounter(a)
	for {
		done, err := r.Step(ctx, name, true)
		queued, passed = queued+int64(done.Queued), passed+done.Passed
		if done.Full {
			why = "; more may be due: enough jobs wait for a worker, run this again after it"
		}
		if err != nil || done.End || done.Full {
			if err != nil && queued == 0 {
				return err
			}
			perr := a.Say("%s: %s queued%s%s", output.Printable(name), output.Plural(queued, "row"), passedWords(passed), why)
			return errors.Join(err, perr)
		}
		counter.Say(func() string { return name + ": " + output.Plural(queued, "row") + " queued" })
		if done.Early {
			if err := shell.Rest(ctx, time.Second/10); err != nil {
				return err
			}
		}
	}
}
