package tables

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/discover"
	"github.com/onerow/onerow/schema/live"
	"github.com/onerow/onerow/schema/planfile"
)

// Discover prints a plan of the foreign keys of a database.
type Discover struct {
	Root []string `sep:"," placeholder:"TABLE" help:"Tables whose rows are to be deleted with all that is below them."`
	Soft []string `sep:"," placeholder:"COLUMN=TABLE" help:"References without a foreign key: every column of that name refers to the table's key, or to TABLE.COLUMN."`
	Plan string   `placeholder:"FILE" help:"Extend this plan: what a person has written stays, what is new comes behind it."`
}

// Run prints the plan.
func (c *Discover) Run(ctx context.Context, a *shell.App, db shell.BareDB) error {
	var roots []string
	for _, name := range c.Root {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(roots, name) {
			roots = append(roots, name)
		}
	}
	if len(roots) == 0 && c.Plan == "" {
		return usage.Errorf("--root names no table")
	}
	var soft []discover.Soft
	for _, text := range c.Soft {
		s, err := discover.ParseSoft(text)
		if err != nil {
			return usage.Mark(err)
		}
		soft = append(soft, s)
	}
	var old schema.Plan
	var text []byte
	if c.Plan != "" {
		var err error
		if text, err = os.ReadFile(c.Plan); err != nil {
			return usage.Errorf("--plan: %w", err)
		}
		if old, err = planfile.Parse(c.Plan, text); err != nil {
			return usage.Mark(err)
		}
	}
	plan, notes, proposals, err := discover.Plan(ctx, db, old, roots, soft)
	switch {
	case errors.Is(err, discover.ErrUnknownTable):
		return usage.Mark(err)
	case err != nil:
		return err
	}
	if err := discover.Sample(ctx, db, proposals); err != nil {
		return err
	}
	if c.Plan != "" {
		return c.extended(a, string(text), old, plan, notes, proposals)
	}
	printed := PlanText(plan, roots, notes, proposals)
	if _, err := planfile.Parse("the discovered plan", []byte(printed)); err != nil {
		return err
	}
	return a.Print(printed)
}

// extended prints the old plan with what is new, and says what that is.
func (c *Discover) extended(a *shell.App, text string, old, plan schema.Plan, notes []live.Note, proposals []discover.Proposal) error {
	printed, err := extendedText(c.Plan, text, old, plan, notes, proposals)
	if err != nil {
		return err
	}
	if err := a.Print(printed); err != nil {
		return err
	}
	tables, edges := len(plan.Tables)-len(old.Tables), edgesOf(plan)-edgesOf(old)
	said := fmt.Sprintf("new: %s, %s", output.Plural(tables, "table"), output.Plural(edges, "edge"))
	if tables+edges == 0 {
		said = "nothing is new: the plan has every foreign key"
	}
	if len(proposals) > 0 {
		said += fmt.Sprintf("; %s proposed, in the lines with %s", output.Plural(len(proposals), "edge"), proposalMark)
	}
	for _, n := range notes {
		if n.Table == "" {
			said += "\n" + n.Text
		}
	}
	return a.Note("%s", said)
}

// edgesOf counts a plan's edges.
func edgesOf(p schema.Plan) (n int) {
	for _, node := range p.Nodes() {
		n += len(node.Parents)
	}
	return n
}
