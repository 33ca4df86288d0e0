package tables

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/discover"
)

// verifyErasure prints what becomes of each reference to a row of a resource, and to what goes with it, and the
// columns that may be such references and on which nobody has decided.
func verifyErasure(ctx context.Context, a *shell.App, db *sql.DB, plan schema.Plan, of string) error {
	found, err := discover.Erasure(ctx, db, plan, of)
	switch {
	case errors.Is(err, schema.ErrUnknownResource):
		return usage.Mark(err)
	case err != nil:
		return err
	}
	if err := output.Table(a.Stdout, []string{"TABLE", "COLUMNS", "REFERS TO", "ITS ROWS"}, decisions(plan, of)); err != nil {
		return err
	}
	if len(found) == 0 {
		return a.Note("ok: nothing else was found that may name a row of %s", output.Printable(of))
	}
	for _, u := range found {
		fix := fmt.Sprintf("give %s in the plan an edge {table: %s, columns: [%s], on_delete: delete, detach or keep}; or spare it", u.Table, u.Of, u.Column)
		switch {
		case u.Document:
			fix = "no edge reaches into a document: say what removes it"
		case u.Of == "":
			fix = fmt.Sprintf("give %s in the plan edges {table: T, columns: [%s], when: {THE TYPE: VALUE}}; or spare it", u.Table, u.Column)
		}
		if err := a.Say("%s", output.OneLine(fmt.Sprintf("undecided: %s.%s: %s", u.Table, u.Column, u.Why))+
			"\n    fix: "+output.OneLine(fmt.Sprintf("%s: spared: [{table: %s, column: %s, because: …}]", fix, u.Table, u.Column))); err != nil {
			return err
		}
	}
	return errors.Join(a.Note("%s undecided", output.Plural(len(found), "column")), shell.ErrReported)
}

// decisions are the plan's edges to a resource and to what goes with it, and what it spares.
func decisions(plan schema.Plan, of string) (rows [][]string) {
	nodes := plan.Nodes()
	goes := []string{of}
	for i := 0; i < len(goes); i++ {
		for _, n := range nodes {
			for _, e := range n.Parents {
				if e.Table != goes[i] {
					continue
				}
				what := map[schema.Action]string{schema.OnDeleteDetach: "stay, without the reference", schema.OnDeleteKeep: "stay as they are"}[e.OnDelete]
				if what == "" {
					what = "are deleted"
					if n.Trash > 0 {
						what += ", and kept in the trash for " + n.Trash.String()
					}
					if !slices.Contains(goes, n.Name) {
						goes = append(goes, n.Name)
					}
				}
				rows = append(rows, []string{output.Printable(n.Name), output.Printable(strings.Join(e.Columns, ", ")), output.Printable(e.Table), what})
			}
		}
	}
	for _, s := range plan.Spared {
		rows = append(rows, []string{output.Printable(s.Table), output.Printable(s.Column), "-", output.OneLine("stay as they are: " + s.Because)})
	}
	return rows
}
