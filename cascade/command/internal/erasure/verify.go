// Package erasure says what becomes of all that refers to a person: by the plan, as verify --erasure asks,
// and in fact, as report --certificate writes down.
//
// Open this package when a decision of the plan, or what is left of a person, is told in another way.
package erasure

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/discover"
)

// Verify prints what becomes of each reference to a row of a resource, and to what goes with it, and the
// columns that may be such references and on which nobody has decided.
func Verify(ctx context.Context, a *shell.App, db *sql.DB, plan schema.Plan, of string) error {
	found, err := discover.Erasure(ctx, db, plan, of)
	switch {
	case errors.Is(err, schema.ErrUnknownResource):
		return usage.Mark(err)
	case err != nil:
		return err
	}
	var rows [][]string
	for _, d := range decisions(plan, of) {
		rows = append(rows, []string{output.Printable(d.Table), output.Printable(strings.Join(d.Columns, ", ")), cmp.Or(output.Printable(d.Of), "-"), output.OneLine(d.Rows)})
	}
	if err := output.Table(a.Stdout, []string{"TABLE", "COLUMNS", "REFERS TO", "ITS ROWS"}, rows); err != nil {
		return err
	}
	for _, d := range append(decisions(plan, of), decision{Table: of, action: schema.OnDeleteDelete}) {
		if n, err := plan.Node(d.Table); err == nil && len(n.Key) > 1 && d.action == schema.OnDeleteDelete {
			if err := a.Note("note: the key of %s has several columns; references to it are not looked for", output.Printable(d.Table)); err != nil {
				return err
			}
		}
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
