package deletion

import (
	"context"
	"fmt"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/fit"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/schema"
)

// planStatement is a statement that workers send for the rows of a table. Its keys are those of two rows that
// are there, or question marks; a worker lists up to 500.
type planStatement struct {
	Table  string `json:"table"`
	Parent string `json:"parent"` // the resource or table above, by which the rows are found
	What   string `json:"what"`
	SQL    string `json:"sql"`
}

// statements prints what workers send, as a file of SQL.
func (c *Plan) statements(ctx context.Context, a *shell.App, plan schema.Plan) error {
	db, err := a.Open(ctx)
	if err != nil {
		return err
	}
	if err := plan.Check(); err != nil {
		return err
	}
	var list []work.Statement
	g, err := graph.Read(ctx, db, plan)
	if err == nil {
		list, err = work.Statements(ctx, db, g)
	}
	if err != nil {
		return fit.Explained(ctx, db, plan, err)
	}
	if c.JSON {
		all := make([]planStatement, len(list))
		for i, s := range list {
			all[i] = planStatement(s)
		}
		return shell.PrintJSON(a, all)
	}
	var b strings.Builder
	b.WriteString("-- What workers send for the rows of each table, in the order of a batch, with keys of rows that are there,\n" +
		"-- or ?. Put EXPLAIN before a statement; run none of them by itself.\n")
	last := ""
	for _, s := range list {
		if title := fmt.Sprintf("\n-- %s, below %s\n", output.Printable(s.Table), output.Printable(s.Parent)); title != last {
			b.WriteString(title)
			last = title
		}
		fmt.Fprintf(&b, "-- %s\n%s;\n", s.What, s.SQL)
	}
	return a.Print(b.String())
}
