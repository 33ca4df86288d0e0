package discover

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/dict"
)

// keepOld learns the tables of the old plan.
func (d *discovery) keepOld() error {
	d.known = map[string]schema.Node{}
	for _, n := range d.old.Nodes() {
		for i, name := range n.Tables {
			t := d.found.Table(name)
			if t == nil {
				return fmt.Errorf("%w: %q, of %s in the plan; the database %q has none that this user may see", ErrUnknownTable, name, n.Name, d.found.Name)
			}
			n.Tables[i] = t.Name
		}
		for _, name := range n.Tables {
			d.known[name] = n
		}
	}
	return nil
}

// activeTable is the table where a row is at first, of a table in which it may be.
func (d *discovery) activeTable(table string) string {
	if n, known := d.known[table]; known {
		return n.Tables[0]
	}
	return table
}

func (d *discovery) nameInPlan(table string) string {
	if n, known := d.known[table]; known {
		return n.Name
	}
	return table
}

// withOld gives the references of the old plan's edges their actions, and adds those that no foreign key
// says.
func (d *discovery) withOld(all []*reference) []*reference {
	nodes := d.old.Nodes()
	for _, n := range nodes {
		for _, e := range n.Parents {
			i := slices.IndexFunc(nodes, func(o schema.Node) bool { return o.Name == e.Table })
			f := dict.ForeignKey{Schema: d.found.Name, Table: d.found.Table(n.Tables[0]).Name, ToSchema: d.found.Name, To: d.found.Table(nodes[i].Tables[0]).Name,
				OnDelete: "NO ACTION", Columns: e.Columns, References: e.References}
			r := &reference{ForeignKey: f, soft: true}
			twin := slices.IndexFunc(all, func(o *reference) bool { return o.Table == f.Table && o.To == f.To && o.Is(e) })
			if twin >= 0 && len(e.When) == 0 {
				r = all[twin]
			} else {
				all = append(all, r)
			}
			r.action, r.old = e.OnDelete, true
		}
	}
	return all
}

// extended is the old plan with what is new behind it.
func (d *discovery) extended() schema.Plan {
	p := d.old
	p.Resources, p.Tables = slices.Clone(p.Resources), slices.Clone(p.Tables)
	for i, r := range p.Resources {
		if n := d.nodes[d.found.Table(cmp.Or(r.Active, r.Name)).Name]; n != nil {
			p.Resources[i].Parents = append(slices.Clip(r.Parents), d.newEdges(n)...)
		}
	}
	for i, t := range p.Tables {
		if n := d.nodes[d.found.Table(t.Name).Name]; n != nil {
			p.Tables[i].Parents = append(slices.Clip(t.Parents), d.newEdges(n)...)
		}
	}
	for _, name := range d.order {
		if _, known := d.known[name]; !known {
			n := d.nodes[name]
			p.Tables = append(p.Tables, schema.Table{Name: name, Key: n.table.Spelled(n.table.Primary()), Stays: n.stays, Parents: d.newEdges(n)})
		}
	}
	return p
}
