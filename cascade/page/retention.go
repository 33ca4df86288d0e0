package page

import (
	"context"
	"net/http"
	"strings"

	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/retain"
)

// maxDue is how many rows of a table are counted, as by the command.
const maxDue = 10_000

// retentionView is what each policy of the plan takes next.
type retentionView struct{ Policies []policyView }

type policyView struct {
	Name, Policy          string
	Due                   string // rows
	Oldest, Window, Stays string
	Any                   bool
	Problem               string
}

// retention counts what is due by each policy, as cascade-worker retention list does: the catalog, then a
// statement for the time and one for each table.
func (p *Page) retention(ctx context.Context, _ *http.Request) (any, error) {
	var known *graph.Graph
	r := retain.New(p.db, p.plan, func(context.Context) (_ *graph.Graph, err error) {
		if known == nil {
			known, err = graph.Read(ctx, p.db, p.plan)
		}
		return known, err
	})
	var v retentionView
	for _, name := range r.Names() {
		due, err := r.Due(ctx, name, maxDue+1)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		of := policyView{Name: output.Printable(name)}
		if err != nil {
			of.Problem = output.Shorten(output.OneLine(err.Error()), 400)
			v.Policies = append(v.Policies, of)
			continue
		}
		of.Policy, of.Any, of.Due, of.Oldest, of.Window = output.OneLine(due.Policy.String()), due.Due > 0, output.Plural(min(due.Due, maxDue), "row"), output.Printable(due.Oldest), "the window is open"
		if of.Any && due.Policy.Zone == "" && !strings.HasSuffix(of.Oldest, " UTC") {
			of.Oldest += " UTC"
		}
		if due.Due+due.Undated > maxDue {
			of.Due = "more than " + of.Due
		}
		if !due.Open {
			of.Window = "the window is closed; open " + output.Window(due.Open, due.Next)
		}
		if due.Undated > 0 {
			of.Stays = output.Plural(due.Undated, "row") + " stay: the date has no month or no day"
		}
		v.Policies = append(v.Policies, of)
	}
	return v, nil
}
