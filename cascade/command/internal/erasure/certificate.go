package erasure

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/cascade/internal/dbtime"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/discover"
)

// certificate is a report with what the plan decides, what is left of it in the tables, and what is not over.
type certificate struct {
	admin.Report
	WrittenAt time.Time  `json:"written_at"`
	Decisions []decision `json:"decisions"`
	// Open is what stands between this and a full erasure; none: it is full.
	Open []string `json:"open"`
}

// Certify prints a certificate of a deletion: text is the report's. It exits with 1 where the erasure is not
// full.
func Certify(ctx context.Context, a *shell.App, db *sql.DB, plan schema.Plan, r admin.Report, text string, asJSON bool) error {
	now, err := dbtime.Now(ctx, db)
	if err != nil {
		return err
	}
	c := certificate{Report: r, WrittenAt: now, Decisions: decisions(plan, r.Resource), Open: []string{}}
	if err := c.count(ctx, db, plan); err != nil {
		return err
	}
	c.judge()
	undecided, err := discover.Erasure(ctx, db, plan, r.Resource)
	if err != nil {
		return err
	}
	for _, u := range undecided {
		c.Open = append(c.Open, output.OneLine(fmt.Sprintf("%s.%s may name it, and the plan decides nothing: %s", u.Table, u.Column, u.Why)))
	}
	if asJSON {
		err = shell.PrintJSON(a, c)
	} else {
		err = c.print(a, text)
	}
	if err == nil && len(c.Open) > 0 {
		err = shell.ErrReported
	}
	return err
}

// mostCounted is how many rows of a table are counted that should not be there.
const mostCounted = 10_000

// count looks for what refers to the row still, and to what was below it.
func (c *certificate) count(ctx context.Context, db *sql.DB, plan schema.Plan) error {
	now, err := inspect.DryRun(ctx, db, plan, c.Resource, c.ResourceID, mostCounted, nil)
	if err != nil {
		return err
	}
	if now.Root {
		c.Open = append(c.Open, "the row itself is there")
	}
	for i := range c.Decisions {
		d := &c.Decisions[i]
		n, err := plan.Node(d.Table)
		if err != nil || d.action == "" || d.action == schema.OnDeleteKeep {
			continue // spared, of a table that the plan need not have; or it stays
		}
		went, left := map[string]int64{}, now.Tables
		if c.Job != nil {
			went = c.Job.Tables
		}
		if d.action == schema.OnDeleteDetach {
			if left = now.Detached; c.Job != nil {
				went = c.Job.Detached
			}
		}
		for _, table := range n.Tables {
			d.Went += went[table]
		}
		if d.Left = left[n.Name]; d.Left > 0 {
			c.Open = append(c.Open, fmt.Sprintf("%s of %s: still below it", output.Plural(d.Left, "row"), output.Printable(d.Table)))
		}
	}
	return nil
}

// judge notes what of the job is not over.
func (c *certificate) judge() {
	switch {
	case c.Job == nil:
		c.Open = append(c.Open, "no job is known: what went was purged, or nothing was queued")
	case c.Job.State != queue.Done:
		c.Open = append(c.Open, fmt.Sprintf("job %d is %s", c.Job.ID, c.Job.State))
	case c.Job.Parked+c.Job.Skipped > 0:
		c.Open = append(c.Open, output.Plural(c.Job.Parked+c.Job.Skipped, "row")+" could not be deleted, see "+output.ProgramName+fmt.Sprintf(" parked list --job %d --skipped", c.Job.ID))
	}
	for _, k := range c.Trash {
		c.Open = append(c.Open, fmt.Sprintf("%s of %s: in the trash until %s", output.RowsAndReferences(k.Rows, k.References), output.Printable(k.Table), output.Moment(k.Expires)))
	}
}

func (c *certificate) print(a *shell.App, text string) error {
	rows := make([][]string, len(c.Decisions))
	for i, d := range c.Decisions {
		went, left := "-", "-"
		if d.action != "" && d.action != schema.OnDeleteKeep {
			went, left = output.Grouped(d.Went), output.Grouped(d.Left)
		}
		rows[i] = []string{output.Printable(d.Table), output.Printable(strings.Join(d.Columns, ", ")), cmp.Or(output.Printable(d.Of), "-"), went, left, output.OneLine(d.Rows)}
	}
	err := errors.Join(a.Print(text), a.Say("\nwhat refers to it, by the plan, and what is there at %s:", output.Moment(c.WrittenAt)))
	if err == nil {
		err = output.Table(a.Stdout, []string{"TABLE", "COLUMNS", "REFERS TO", ">WENT", ">LEFT", "ITS ROWS"}, rows)
	}
	if err == nil && len(c.Open) == 0 {
		err = a.Say("\nthe erasure is full")
	}
	if err == nil && len(c.Open) > 0 {
		err = a.Say("\nthe erasure is not full:\n  - %s", strings.Join(c.Open, "\n  - "))
	}
	return err
}
