package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

const costForeign = "none that grows with the rows. The way back reads the rows, with writers waiting"

// foreignKeys drops what would keep rows from moving, or delete them; what only restricts rows elsewhere
// stays.
func (a *adopter) foreignKeys() {
	var tables []string
	for _, name := range a.Resource.Tables() {
		tables = append(tables, a.found.key(name))
	}
	ours := func(schema, table string) bool {
		return schema == a.found.name && slices.Contains(tables, a.found.key(table))
	}
	for _, f := range a.found.foreign {
		about := func(k kind) bool {
			return slices.ContainsFunc(a.said, func(s said) bool {
				return s.kind == k && s.Index == f.name && (s.Table == f.table || s.Table == f.to)
			})
		}
		from, to := ours(f.schema, f.table), ours(f.toSchema, f.to)
		switch {
		case to && about(foreignManaged):
			a.dropInto(f)
		case from && about(foreignManaged):
			a.dropForeign(f, fmt.Sprintf("%s is a resource as well: its rows go to its archive, and go before what is below them, and this key refuses both", f.to),
				fmt.Sprintf("the server no longer refuses a row whose %s is not there: look for the row above first (the toolkit locks it)", strings.Join(f.columns, ", ")))
		case from && about(foreignOutward):
			a.restrictOut(f)
		case from && !to:
			a.Notes = append(a.Notes, fmt.Sprintf("the foreign key %s from %s to %s stays: it only restricts rows of %s; the archive has none", f.name, f.table, f.to, f.to))
		}
	}
}

// dropInto drops a key that leads to the resource.
func (a *adopter) dropInto(f foreignKey) {
	r := a.Resource
	var why string
	switch {
	case r.Archive == "":
		why = "a deletion takes the root first, and what is below it in the background"
	case strings.EqualFold(f.onDelete, "CASCADE"):
		why = fmt.Sprintf("an archived row leaves %s, and this key would delete its rows in %s with it", r.Active, f.table)
	case strings.EqualFold(f.onDelete, "SET NULL"):
		why = fmt.Sprintf("an archived row leaves %s, and this key would detach its rows in %s", r.Active, f.table)
	default:
		why = fmt.Sprintf("an archived row leaves %s, which this key refuses (error 1451) while rows of %s refer to it", r.Active, f.table)
	}
	edge := fmt.Sprintf("{table: %s, columns: [%s]}", r.Name, strings.Join(f.columns, ", "))
	if strings.EqualFold(f.onDelete, "SET NULL") {
		edge = strings.TrimSuffix(edge, "}") + ", on_delete: detach}"
	}
	known := slices.ContainsFunc(a.plan.Nodes(), func(n Node) bool {
		return slices.ContainsFunc(n.Tables, func(t string) bool { return a.found.key(t) == a.found.key(f.table) }) &&
			slices.ContainsFunc(n.Parents, func(e Edge) bool {
				return e.Table == r.Name && colset.Same(colset.Lower(e.Columns), colset.Lower(f.columns))
			})
	})
	if !known {
		a.Notes = append(a.Notes, fmt.Sprintf("the plan does not know that rows of %s refer to %s, so the cascade would leave them behind: declare it there, with the parent %s", f.table, r.Active, edge))
	}
	a.dropForeign(f, why, fmt.Sprintf("the server no longer refuses a row of %s whose row in %s is not there, nor does anything when that one is deleted by plain SQL: "+
		"delete through the toolkit, whose cascade follows the plan, or take the rows of %s yourself first", f.table, f.to, f.table))
}

func (a *adopter) dropForeign(f foreignKey, why, writers string) {
	drop := a.found.drop(f)
	table := strings.TrimSuffix(drop, " DROP FOREIGN KEY "+Quote(f.name))
	a.step(Step{Name: "drop_foreign_key_" + fileWord(f.name), Last: true,
		What: fmt.Sprintf("Drops the foreign key %s from %s to %s ON DELETE %s, which cannot stay: %s.", f.name, f.table, f.to, f.onDelete, why),
		Cost: costForeign, Writers: writers, Back: "the foreign key as it was; it fails where a row refers to one that is not there any more",
		Up:   Change{Done: "NOT " + exists(f, f.name), SQL: drop},
		Down: Change{Done: exists(f, f.name), SQL: table + " ADD " + foreignDDL(f, f.name, f.onDelete, f.onUpdate, a.found.name)}})
}

// restrictOut makes a key that deletes or changes rows of the resource one that restricts. No server adds a
// foreign key under a name that the same statement drops.
func (a *adopter) restrictOut(f foreignKey) {
	name := shape.IndexName([]string{f.name}, a.found.foreignNames())
	change := func(from, to, onDelete, onUpdate string) Change {
		return Change{Done: exists(f, to), SQL: fmt.Sprintf("ALTER TABLE %s DROP FOREIGN KEY %s, ADD %s", Quote(f.table), Quote(from), foreignDDL(f, to, onDelete, onUpdate, a.found.name))}
	}
	a.step(Step{Name: "restrict_foreign_key_" + fileWord(f.name), Last: true,
		What: fmt.Sprintf("Makes the foreign key %s from %s to %s one that restricts, %s: ON DELETE %s ON UPDATE %s takes or changes rows that nobody counts, archives or asks about.", f.name, f.table, f.to, name, f.onDelete, f.onUpdate),
		Cost: "the rows are read, and the table copied, with writers waiting: try it on a copy of the table to know how long", Back: "the foreign key as it was",
		Writers: fmt.Sprintf("a row of %s goes only after its rows in %s are gone: delete those through the toolkit first", f.to, f.table),
		Up:      change(f.name, name, "RESTRICT", "RESTRICT"), Down: change(name, f.name, f.onDelete, f.onUpdate)})
}

func exists(f foreignKey, name string) string {
	return fmt.Sprintf("EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = %s AND table_name = %s AND constraint_name = %s AND constraint_type = 'FOREIGN KEY')",
		literal(f.schema), literal(f.table), literal(name))
}

func foreignDDL(f foreignKey, name, onDelete, onUpdate, here string) string {
	to := Quote(f.to)
	if f.schema != here || f.toSchema != here {
		to = Quote(f.toSchema) + "." + to
	}
	return fmt.Sprintf("CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s) ON DELETE %s ON UPDATE %s",
		Quote(name), ident.Quotes(f.columns...), to, ident.Quotes(f.references...), onDelete, onUpdate)
}
