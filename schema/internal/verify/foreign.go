package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/migrations/ddl"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
)

// foreignKeys looks at the foreign keys: one that deletes or changes rows does so behind the plan's back, and
// one that restricts keeps rows from moving or going. Each key that leads to a table of
// the plan must be an edge of the plan that does the same.
func (v *verifier) foreignKeys(nodes []schema.Node) {
	ours := map[string]*schema.Node{}
	for i := range nodes {
		for _, name := range nodes[i].Tables {
			ours[v.found.Key(name)] = &nodes[i]
		}
	}
	for _, t := range ddl.Tables() {
		ours[v.found.Key(t.Name)] = &schema.Node{Name: t.Name, Managed: true}
	}
	nodeOf := func(schema, table string) *schema.Node {
		if schema != v.found.Name {
			return nil
		}
		return ours[v.found.Key(table)]
	}
	for _, f := range v.found.Foreign {
		from, to := nodeOf(f.Schema, f.Table), nodeOf(f.ToSchema, f.To)
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

// intoManaged reports a key that leads to a resource: rows leave a resource's table when they are archived,
// and the root goes before what is below it.
func (v *verifier) intoManaged(from *schema.Node, f dict.ForeignKey) {
	table := f.Table
	if from == nil {
		table = f.To
	}
	d := Difference{Table: table, Index: f.Name,
		Problem: fmt.Sprintf("no foreign key may lead to the resource table %q, whose rows leave it when they are archived, and go before what is below them; this one is from %q ON DELETE %s", f.To, f.Table, f.OnDelete)}
	if from == nil {
		d.Fix = "declare the table in the plan first, or nobody deletes its rows; then"
	}
	if !f.OnlyRestricts() {
		d.Problem = unknownProblem(f)
	}
	v.report(ForeignManaged, d, v.found.DropForeignKey(f))
}

func unknownProblem(f dict.ForeignKey) string {
	return fmt.Sprintf("the plan does not know this foreign key from %q to %q ON DELETE %s ON UPDATE %s; it deletes or changes rows that nobody counts, archives or asks about", f.Table, f.To, f.OnDelete, f.OnUpdate)
}

// outward looks at a key from the plan to elsewhere. What happens when a row over there goes is no cascade of
// this plan; but rows of a resource, and rows with an asset, must not go by themselves.
func (v *verifier) outward(from schema.Node, f dict.ForeignKey) {
	switch {
	case f.OnlyRestricts(), !from.Managed && from.Asset == "", !from.Managed && dict.Restricts(f.OnDelete):
		return
	}
	v.report(ForeignOutward, Difference{Table: f.Table, Index: f.Name, Problem: unknownProblem(f), Fix: "make it restrict in both rules, or"}, v.found.DropForeignKey(f))
}

// intoTable looks at a key that leads to an existing table, whose rows are deleted
// after all that is below them.
func (v *verifier) intoTable(from *schema.Node, to schema.Node, f dict.ForeignKey) {
	if to.Stays {
		return // its rows are not deleted
	}
	pairs := strings.Join(f.Columns, ", ")
	if from == nil {
		where := f.Table
		if f.Schema != v.found.Name {
			where = f.Schema + "." + f.Table
		}
		statement := ""
		d := Difference{Table: f.To, Index: f.Name,
			Problem: fmt.Sprintf("rows of %q refer to it by (%s), and the plan does not know that table; they keep its rows from being deleted (ON DELETE %s)", where, pairs, f.OnDelete),
			Fix:     fmt.Sprintf("add %q to the plan with the edge %s, or let cascade-worker discover write the plan anew", f.Table, f.Edge(to.Name, to.Key))}
		if !dict.Restricts(f.OnDelete) {
			d.Problem = fmt.Sprintf("rows of %q refer to it by (%s), and the plan does not know that table; ON DELETE %s changes them in one unbounded statement, uncounted", where, pairs, f.OnDelete)
		}
		if f.Schema != v.found.Name {
			d.Problem += "; no plan reaches another database"
			d.Fix, statement = "", v.found.DropForeignKey(f)
		}
		v.report(ForeignUnknown, d, statement)
		return
	}
	v.onUpdate(to, f)
	edges := slices.DeleteFunc(slices.Clone(from.Parents), func(e schema.Edge) bool { return e.Table != to.Name || !f.Is(e) })
	if len(edges) == 0 {
		v.report(ForeignEdgeless, Difference{Table: f.Table, Index: f.Name,
			Problem: fmt.Sprintf("the plan has no edge for this foreign key from (%s) to %q ON DELETE %s; %s", pairs, f.To, f.OnDelete, consequence(f)),
			Fix:     fmt.Sprintf("add to the parents of %q: %s", from.Name, f.Edge(to.Name, to.Key))}, "")
		return
	}
	for _, e := range edges {
		if problem, words, statement := v.conflict(f, e); problem != "" {
			v.report(ForeignConflict, Difference{Table: f.Table, Index: f.Name, Problem: problem, Fix: words}, statement)
		}
	}
}

func consequence(f dict.ForeignKey) string {
	if dict.Restricts(f.OnDelete) {
		return "it keeps the rows above from being deleted"
	}
	return "it deletes or changes rows in one unbounded statement, uncounted"
}

// conflict says in what the edge and the key's rule differ, and what to do. A CASCADE
// where the plan deletes, and a SET NULL where it detaches, find nothing left to do.
func (v *verifier) conflict(f dict.ForeignKey, e schema.Edge) (problem, words, statement string) {
	columns := strings.Join(f.Columns, ", ")
	switch {
	case len(e.When) > 0:
		return fmt.Sprintf("the foreign key binds all rows by (%s), and the plan's edge only some of them", columns), "take when off the edge, or", v.found.DropForeignKey(f)
	case e.OnDelete == schema.OnDeleteKeep, e.OnDelete.Mark() != "":
		return fmt.Sprintf("the plan keeps rows whose (%s) refers to a row that is gone, and the foreign key does not allow that (ON DELETE %s)", columns, f.OnDelete),
			"make the edge on_delete: delete or detach, or", v.found.DropForeignKey(f)
	case dict.Restricts(f.OnDelete):
		return "", "", ""
	case e.OnDelete == schema.OnDeleteDelete && !strings.EqualFold(f.OnDelete, "CASCADE"):
		return fmt.Sprintf("the plan deletes what the database would detach (ON DELETE %s on (%s))", f.OnDelete, columns), "make the edge on_delete: detach, or the key one that restricts:", v.found.Replace(f, v.found.OtherName(f.Name), "RESTRICT", f.OnUpdate)
	case e.OnDelete == schema.OnDeleteDetach && !strings.EqualFold(f.OnDelete, "SET NULL"):
		return fmt.Sprintf("the plan detaches what the database would delete (ON DELETE %s on (%s)); a row that comes in between would be lost", f.OnDelete, columns),
			"make the edge on_delete: delete, or the key one that restricts:", v.found.Replace(f, v.found.OtherName(f.Name), "RESTRICT", f.OnUpdate)
	}
	return "", "", ""
}

// onUpdate looks at the rule for updates. The worker changes nothing but the columns that it detaches. Where
// those are referred to themselves, the rule for updates counts.
func (v *verifier) onUpdate(to schema.Node, f dict.ForeignKey) {
	for _, e := range to.Parents {
		if e.OnDelete == schema.OnDeleteKeep || e.OnDelete == schema.OnDeleteDelete && e.Table != to.Name {
			continue
		}
		for _, col := range to.DetachColumns(e) {
			if colset.Has(f.References, col) {
				v.report(ForeignUpdate, Difference{Table: f.Table, Index: f.Name,
					Problem: fmt.Sprintf("it refers to %s.%s, which becomes NULL when that row is detached from %q; ON UPDATE %s then meets rows that nobody counts", f.To, col, e.Table, f.OnUpdate),
					Fix:     "let the foreign key refer to another column, or make that edge on_delete: delete or keep"}, "")
			}
		}
	}
}
