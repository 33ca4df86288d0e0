package adopt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/verify"
)

const costForeign = "none that grows with the rows. The way back reads the rows, with writers waiting"

// foreignKeys drops what would keep rows from moving, or delete them; what only restricts rows elsewhere
// stays.
func (a *adopter) foreignKeys() {
	var tables []string
	for _, name := range a.Resource.Tables() {
		tables = append(tables, a.found.Key(name))
	}
	ours := func(schema, table string) bool {
		return schema == a.found.Name && slices.Contains(tables, a.found.Key(table))
	}
	for _, f := range a.found.Foreign {
		about := func(k verify.Kind) bool {
			return slices.ContainsFunc(a.findings, func(s verify.Finding) bool {
				return s.Kind == k && s.Index == f.Name && (s.Table == f.Table || s.Table == f.To)
			})
		}
		from, to := ours(f.Schema, f.Table), ours(f.ToSchema, f.To)
		switch {
		case to && about(verify.ForeignManaged):
			a.dropInto(f)
		case from && about(verify.ForeignManaged):
			a.dropForeign(f, fmt.Sprintf("%s is a resource as well: its rows go to its archive, and go before what is below them, and this key refuses both", f.To),
				fmt.Sprintf("the server no longer refuses a row whose %s is not there: look for the row above first (the toolkit locks it)", strings.Join(f.Columns, ", ")))
		case from && about(verify.ForeignOutward):
			a.restrictOut(f)
		case from && !to:
			a.Notes = append(a.Notes, fmt.Sprintf("the foreign key %s from %s to %s stays: it only restricts rows of %s; the archive has none", f.Name, f.Table, f.To, f.To))
		}
	}
}

// dropInto drops a key that leads to the resource.
func (a *adopter) dropInto(f dict.ForeignKey) {
	r := a.Resource
	var why string
	switch {
	case r.Archive == "":
		why = "a deletion takes the root first, and what is below it in the background"
	case strings.EqualFold(f.OnDelete, "CASCADE"):
		why = fmt.Sprintf("an archived row leaves %s, and this key would delete its rows in %s with it", r.Active, f.Table)
	case strings.EqualFold(f.OnDelete, "SET NULL"):
		why = fmt.Sprintf("an archived row leaves %s, and this key would detach its rows in %s", r.Active, f.Table)
	default:
		why = fmt.Sprintf("an archived row leaves %s, which this key refuses (error 1451) while rows of %s refer to it", r.Active, f.Table)
	}
	known := slices.ContainsFunc(a.plan.Nodes(), func(n schema.Node) bool {
		return slices.ContainsFunc(n.Tables, func(t string) bool { return a.found.Key(t) == a.found.Key(f.Table) }) &&
			slices.ContainsFunc(n.Parents, func(e schema.Edge) bool {
				return e.Table == r.Name && colset.Same(colset.Lower(e.Columns), colset.Lower(f.Columns))
			})
	})
	if !known {
		a.Notes = append(a.Notes, fmt.Sprintf("the plan does not know that rows of %s refer to %s, so the cascade would leave them behind: declare it there, with the parent %s", f.Table, r.Active, f.Edge(r.Name, []string{r.ID})))
	}
	a.dropForeign(f, why, fmt.Sprintf("the server no longer refuses a row of %s whose row in %s is not there, nor does anything when that one is deleted by plain SQL: "+
		"delete through the toolkit, whose cascade follows the plan, or take the rows of %s yourself first", f.Table, f.To, f.Table))
}

func (a *adopter) dropForeign(f dict.ForeignKey, why, writers string) {
	drop := a.found.DropForeignKey(f)
	table, _, _ := strings.Cut(drop, " DROP FOREIGN KEY ")
	a.step(Step{Name: "drop_foreign_key_" + trimmed(f.Name), Last: true,
		What: fmt.Sprintf("Drops the foreign key %s from %s to %s ON DELETE %s, which cannot stay: %s.", f.Name, f.Table, f.To, f.OnDelete, why),
		Cost: costForeign, Writers: writers, Back: "the foreign key as it was; it fails where a row refers to one that is not there any more",
		Up:   change{Done: "NOT " + exists(f, f.Name), SQL: drop},
		Down: change{Done: exists(f, f.Name), SQL: table + " ADD " + a.found.ForeignDDL(f, f.Name, f.OnDelete, f.OnUpdate)}})
}

// restrictOut makes a key that deletes or changes rows of the resource one that restricts.
func (a *adopter) restrictOut(f dict.ForeignKey) {
	name := a.found.OtherName(f.Name)
	restricting := f
	restricting.Name = name
	a.step(Step{Name: "restrict_foreign_key_" + trimmed(f.Name), Last: true,
		What: fmt.Sprintf("Makes the foreign key %s from %s to %s one that restricts, %s: ON DELETE %s ON UPDATE %s takes or changes rows that nobody counts, archives or asks about.", f.Name, f.Table, f.To, name, f.OnDelete, f.OnUpdate),
		Cost: "the rows are read, and the table copied, with writers waiting: try it on a copy of the table to know how long", Back: "the foreign key as it was",
		Writers: fmt.Sprintf("a row of %s goes only after its rows in %s are gone: delete those through the toolkit first", f.To, f.Table),
		Up:      change{Done: exists(f, name), SQL: a.found.Replace(f, name, "RESTRICT", "RESTRICT")},
		Down:    change{Done: exists(f, f.Name), SQL: a.found.Replace(restricting, f.Name, f.OnDelete, f.OnUpdate)}})
}

func exists(f dict.ForeignKey, name string) string {
	return fmt.Sprintf("EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = %s AND table_name = %s AND constraint_name = %s AND constraint_type = 'FOREIGN KEY')",
		literal(f.Schema), literal(f.Table), literal(name))
}
