package lost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// Sweep compares the assets with the rows that name them.
type Sweep struct {
	shell.PlanFlag
	shell.AssetsFlag
	Delete bool                `help:"Delete the objects that no row names. Without it nothing is changed."`
	Grace  time.Duration       `default:"24h" placeholder:"TIME" help:"Leave objects and rows alone that are younger (24h)."`
	Prefix string              `placeholder:"TEXT" help:"Only objects whose names begin with it."`
	Limit  shell.OptionalLimit `placeholder:"N" help:"Stop after N findings."`
	JSON   bool                `name:"json" help:"Print a JSON array."`
}

// Validate refuses a grace period that has no sense.
func (c *Sweep) Validate() error {
	if c.Grace < 0 {
		return usage.Errorf("--grace is %s; it should be a time like 24h, or 0s", c.Grace)
	}
	return nil
}

// Run prints what it finds.
func (c *Sweep) Run(ctx context.Context, a *shell.App, plan schema.Plan) error {
	if c.Grace == 0 {
		c.Grace = -1
	}
	if !slices.ContainsFunc(plan.Nodes(), func(n schema.Node) bool { return n.Asset != "" }) {
		return usage.Errorf("no resource or table of the plan has an asset column, so every object would seem lost")
	}
	store, err := a.OpenStore(ctx, c.AssetsFlag, "")
	if err != nil {
		return err
	}
	db, err := a.Open(ctx)
	if err != nil {
		return err
	}
	list, show := shell.NewStream(a, c.JSON, findingLine), shell.NewCounter(a)
	seen, err := inspect.Sweep(ctx, db, plan, store, inspect.SweepOptions{Prefix: c.Prefix, Grace: c.Grace, Delete: c.Delete, Limit: int(c.Limit)},
		func(f inspect.Finding) error {
			show.Say(func() string { return output.Plural(list.Count, "finding") + ", now " + f.Name })
			return list.Add(f)
		})
	err = errors.Join(err, list.End())
	if perr := a.Note("%s", sweepSummary(seen, c.Delete)); perr != nil {
		return errors.Join(err, perr)
	}
	return err
}

func findingLine(f inspect.Finding) string {
	name := output.Shorten(output.Printable(f.Name), 120)
	if f.Table != "" {
		return fmt.Sprintf("%s: no object %s", output.RowName(queue.Job{Resource: f.Table, ResourceID: f.ID}), name)
	}
	line := fmt.Sprintf("no row names %s, written %s UTC", name, output.Moment(f.Modified))
	if f.Deleted {
		line += ": deleted"
	}
	return line
}

func sweepSummary(s inspect.Swept, deleting bool) string {
	line := fmt.Sprintf("%s, %s too young; %s without a row", output.Plural(s.Objects, "object"), output.Grouped(s.TooNew), output.Grouped(s.Unreferenced))
	if deleting {
		line += fmt.Sprintf(", %s of them deleted", output.Grouped(s.Deleted))
	}
	line += fmt.Sprintf("; %s, %s without an object", output.Plural(s.Rows, "row"), output.Grouped(s.MissingObject))
	if !s.Complete {
		line += "; there may be more"
	}
	if len(s.Unindexed) > 0 {
		line += "; an index on the asset's column would help in " + strings.Join(s.Unindexed, ", ")
	}
	return output.Printable(line)
}
