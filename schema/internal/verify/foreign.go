package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema/internal/colset"
)

// foreignKeys: a key that deletes or changes rows does so behind the plan's back, and
// one that restricts keeps rows from moving or going. Each key that leads to a table of
// the plan must be an edge of the plan that does the same.
func (v *verifier) foreignKeys(nodes []Node) {
	ours := map[string]*Node{}
	for i := range nodes {
		for _, name := range nodes[i].Tables {
			ours[v.found.key(name)] = &nodes[i]
		}
	}
	for _, t := range toolkitTables() {
		ours[v.found.key(t.name)] = &Node{Name: t.name, Managed: true}
	}
	here := func(schema, table string) *Node {
		if schema != v.found.name {
			return nil
		}
		return ours[v.found.key(table)]
	}
	for _, f := range v.found.foreign {
		from, to := here(f.schema, f.table), here(f.toSchema, f.to)
		switch {
		case to != nil && to.Managed:
			v.intoManaged(from, f)
		case to != nil:
			v.intoTable(from, *to, f)
		case from != nil:
			v.outward(*from, f)
		}
	}
}

// intoManaged: rows leave a resource's table when they are archived, and the root goes
// before what is below it.
func (v *verifier) intoManaged(from *Node, f foreignKey) {
	table := f.table
	if from == nil {
		table = f.to
	}
	d := difference{Table: table, Index: f.name,
		Problem: fmt.Sprintf("the plan does not know this foreign key from %q to %q ON DELETE %s; it keeps rows from being moved and deleted", f.table, f.to, f.onDelete)}
	if !f.passive() {
		d.Problem = behind(f)
	}
	v.say(foreignManaged, d, v.found.drop(f))
}

func behind(f foreignKey) string {
	return fmt.Sprintf("the plan does not know this foreign key from %q to %q ON DELETE %s ON UPDATE %s; it deletes or changes rows that nobody counts, archives or asks about", f.table, f.to, f.onDelete, f.onUpdate)
}

// outward: a key from the plan to elsewhere. What happens when a row over there goes is
// no cascade of this plan; but rows of a resource, and rows with an asset, must not
// go by themselves.
func (v *verifier) outward(from Node, f foreignKey) {
	switch {
	case f.passive(), !from.Managed && from.Asset == "", !from.Managed && restricts(f.onDelete):
		return
	}
	v.say(foreignOutward, difference{Table: f.table, Index: f.name, Problem: behind(f), Fix: "make it restrict in both rules, or"}, v.found.drop(f))
}

// intoTable: a key that leads to an existing table, whose rows are deleted
// after all that is below them.
func (v *verifier) intoTable(from *Node, to Node, f foreignKey) {
	if to.Stays {
		return // its rows are not deleted
	}
	pairs := strings.Join(f.columns, ", ")
	if from == nil {
		where := f.table
		if f.schema != v.found.name {
			where = f.schema + "." + f.table
		}
		statement := ""
		d := difference{Table: f.to, Index: f.name,
			Problem: fmt.Sprintf("rows of %q refer to it by (%s), and the plan does not know that table; they keep its rows from being deleted (ON DELETE %s)", where, pairs, f.onDelete),
			Fix:     fmt.Sprintf("add %q to the plan with the edge %s, or let cascade-worker discover write the plan anew", f.table, yaml(f, to))}
		if !restricts(f.onDelete) {
			d.Problem = fmt.Sprintf("rows of %q refer to it by (%s), and the plan does not know that table; ON DELETE %s changes them in one unbounded statement, uncounted", where, pairs, f.onDelete)
		}
		if f.schema != v.found.name {
			d.Problem += "; no plan reaches another database"
			d.Fix, statement = "", v.found.drop(f)
		}
		v.say(foreignUnknown, d, statement)
		return
	}
	v.onUpdate(to, f)
	edges := slices.DeleteFunc(slices.Clone(from.Parents), func(e Edge) bool { return e.Table != to.Name || !f.is(e) })
	if len(edges) == 0 {
		v.say(foreignEdgeless, difference{Table: f.table, Index: f.name,
			Problem: fmt.Sprintf("the plan has no edge for this foreign key from (%s) to %q ON DELETE %s; %s", pairs, f.to, f.onDelete, consequence(f)),
			Fix:     fmt.Sprintf("add to the parents of %q: %s", from.Name, yaml(f, to))}, "")
		return
	}
	for _, e := range edges {
		if problem, words, statement := v.conflict(f, e); problem != "" {
			v.say(foreignConflict, difference{Table: f.table, Index: f.name, Problem: problem, Fix: words}, statement)
		}
	}
}

func consequence(f foreignKey) string {
	if restricts(f.onDelete) {
		return "it keeps the rows above from being deleted"
	}
	return "it deletes or changes rows in one unbounded statement, uncounted"
}

// conflict says in what the edge and the key's rule differ, and what to do. A CASCADE
// where the plan deletes, and a SET NULL where it detaches, find nothing left to do.
func (v *verifier) conflict(f foreignKey, e Edge) (problem, words, statement string) {
	columns := strings.Join(f.columns, ", ")
	switch {
	case len(e.When) > 0:
		return fmt.Sprintf("the foreign key binds all rows by (%s), and the plan's edge only some of them", columns), "take when off the edge, or", v.found.drop(f)
	case e.OnDelete == OnDeleteKeep, e.OnDelete.Mark() != "":
		return fmt.Sprintf("the plan keeps rows whose (%s) refers to a row that is gone, and the foreign key does not allow that (ON DELETE %s)", columns, f.onDelete),
			"make the edge on_delete: delete or detach, or", v.found.drop(f)
	case restricts(f.onDelete):
		return "", "", ""
	case e.OnDelete == OnDeleteDelete && !strings.EqualFold(f.onDelete, "CASCADE"):
		return fmt.Sprintf("the plan deletes what the database would detach (ON DELETE %s on (%s))", f.onDelete, columns), "make the edge on_delete: detach, or the key one that restricts:", v.restrict(f)
	case e.OnDelete == OnDeleteDetach && !strings.EqualFold(f.onDelete, "SET NULL"):
		return fmt.Sprintf("the plan detaches what the database would delete (ON DELETE %s on (%s)); a row that comes in between would be lost", f.onDelete, columns),
			"make the edge on_delete: delete, or the key one that restricts:", v.restrict(f)
	}
	return "", "", ""
}

// onUpdate: the worker changes nothing but the columns that it detaches. Where those are
// referred to themselves, the rule for updates counts.
func (v *verifier) onUpdate(to Node, f foreignKey) {
	for _, e := range to.Parents {
		if e.OnDelete == OnDeleteKeep || e.OnDelete == OnDeleteDelete && e.Table != to.Name {
			continue
		}
		for _, col := range to.DetachColumns(e) {
			if colset.Has(f.references, col) {
				v.say(foreignUpdate, difference{Table: f.table, Index: f.name,
					Problem: fmt.Sprintf("it refers to %s.%s, which becomes NULL when that row is detached from %q; ON UPDATE %s then meets rows that nobody counts", f.to, col, e.Table, f.onUpdate),
					Fix:     "let the foreign key refer to another column, or make that edge on_delete: delete or keep"}, "")
			}
		}
	}
}

// yaml is the edge as it is written in a plan.
func yaml(f foreignKey, to Node) string {
	text := fmt.Sprintf("{table: %s, columns: [%s]", to.Name, strings.Join(f.columns, ", "))
	if !slices.Equal(colset.Lower(f.references), colset.Lower(to.Key)) {
		text += fmt.Sprintf(", references: [%s]", strings.Join(f.references, ", "))
	}
	if strings.EqualFold(f.onDelete, "SET NULL") {
		text += ", on_delete: detach"
	}
	return text + "}"
}
