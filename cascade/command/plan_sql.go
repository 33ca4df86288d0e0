package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/fit"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/schema"
)

// statements prints what workers send, as a file of SQL.
func (c *planCmd) statements(ctx context.Context, a *app, plan schema.Plan) (err error) {
	db, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	list, err := cascade.PlanSQL(ctx, db, plan)
	if err != nil {
		return fit.Explained(ctx, db, plan, err)
	}
	if c.JSON {
		return printJSON(a, append([]cascade.PlanStatement{}, list...))
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
	_, err = fmt.Fprint(a.stdout, b.String())
	return err
}
