package discover

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
	"github.com/onerow/onerow/schema/live"
)

// notes says of the plan what a person should know, table by table.
func (d *discovery) notes(p schema.Plan) []live.Note {
	for _, name := range d.order {
		n := d.nodes[name]
		_, known := d.known[name]
		if n.stays && !known {
			d.remark(name, "Only detached: its rows stay, and a job cannot begin with one. To delete its rows too, name it as a root.")
		}
		for _, r := range n.edges {
			if !r.old {
				d.edgeNotes(name, r)
			}
		}
		if !known {
			d.triggerNotes(name, n)
		}
	}
	if len(d.restricted) > 0 {
		d.remark("", "Until now the database refuses to delete a row that has one of these below it; the worker deletes them first. If rows of one are to stay, say on_delete: detach or keep there: %s.",
			strings.Join(d.restricted, ", "))
	}
	d.outside()
	d.polymorphic(p)
	return d.remarks
}

func (d *discovery) edgeNotes(name string, r *reference) {
	columns := strings.Join(r.Columns, ", ")
	switch {
	case r.why != "":
		d.remark(name, "(%s) → %s: ON DELETE %s, but %s.", columns, r.To, r.OnDelete, r.why)
		if !dict.Restricts(r.OnDelete) {
			d.remark(name, "verify will refuse this ON DELETE %s (%q), which would delete the rows that are detached; make it RESTRICT.", r.OnDelete, r.Name)
		}
	case r.action == schema.OnDeleteDetach:
		d.remark(name, "(%s) → %s: ON DELETE SET NULL, so its rows are detached, not deleted.", columns, r.To)
	case dict.Restricts(strings.ToUpper(r.OnDelete)) && !r.soft:
		d.restricted = append(d.restricted, fmt.Sprintf("%s (%s) → %s", name, columns, r.To))
	}
	if r.To == name && r.action == schema.OnDeleteDelete {
		d.remark(name, "(%s) refers to the table itself: with a row, all rows below it go.", columns)
	}
}

func (d *discovery) triggerNotes(name string, n *candidate) {
	for _, tr := range n.table.Triggers {
		if tr.RunsWith(!n.stays, slices.ContainsFunc(n.edges, func(r *reference) bool { return r.action == schema.OnDeleteDetach || r.To == name })) {
			d.remark(name, "The trigger %q runs %s each %s of the worker's. Look at what it does; verify accepts it when the table says triggers: [%s].",
				tr.Name, strings.ToLower(tr.Timing), strings.ToLower(tr.Event), tr.Name)
		}
	}
}

// outside notes what refers to the plan from where no plan reaches.
func (d *discovery) outside() {
	for _, f := range d.found.Foreign {
		if f.ToSchema != d.found.Name || f.Schema == d.found.Name {
			continue
		}
		t := d.found.Table(f.To)
		if t == nil {
			continue
		}
		if _, known := d.known[t.Name]; known {
			continue
		}
		if n := d.nodes[t.Name]; n != nil && !n.stays {
			d.remark(t.Name, "The foreign key %q of %s.%s refers to it from another database, which no plan reaches; verify will refuse it.", f.Name, f.Schema, f.Table)
		}
	}
}

// kinds are how a column ends that says to which table the id beside it refers.
var kinds = []string{"_type", "_kind", "_class", "_model", "_table"}

// polymorphic notes pairs of columns of which one seems to say to which table the other refers.
func (d *discovery) polymorphic(p schema.Plan) {
	var pairs []string
	for _, pair := range d.pairs(p) {
		pairs = append(pairs, fmt.Sprintf("%s (%s, %s)", pair.table, pair.kind, pair.id))
	}
	if len(pairs) > 0 {
		d.remark("", "Rows of several tables may be meant, which no foreign key can say: %s. Where such rows are to go with those above them, give the table an edge for each, "+
			"as {table: T, columns: [THE ID], when: {THE TYPE: VALUE}}, with the values that the type column holds.", strings.Join(pairs, ", "))
	}
}

// pair is an id, and what says to which table it refers.
type pair struct{ table, kind, id string }

// pairs are those of which no foreign key says that. Not where the id refers to one table by a key, or the
// plan has an edge.
func (d *discovery) pairs(p schema.Plan) (pairs []pair) {
	for _, name := range d.tableNames() {
		t := d.found.Table(name)
		if !t.IsTable() || shape.IsToolkits(t.Name) {
			continue
		}
		for _, c := range t.Columns {
			stem, found := strings.CutSuffix(strings.ToLower(c.Name), "_id")
			if !found || d.constrained(t.Name, c.Name) || hasEdge(p, t.Name, c.Name) {
				continue
			}
			for _, kind := range kinds {
				if k := t.Column(stem + kind); k != nil && !d.constrained(t.Name, k.Name) {
					pairs = append(pairs, pair{t.Name, k.Name, c.Name})
				}
			}
		}
	}
	return pairs
}

// hasEdge says whether the plan has an edge of that column of a table.
func hasEdge(p schema.Plan, table, column string) bool {
	return slices.ContainsFunc(p.Nodes(), func(n schema.Node) bool {
		return colset.Has(n.Tables, table) && slices.ContainsFunc(n.Parents, func(e schema.Edge) bool { return colset.Has(e.Columns, column) })
	})
}
