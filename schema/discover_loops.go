package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// breakLoops makes edges detach until no table is above itself.
func (d *discovery) breakLoops(references []*reference) error {
	for {
		nodes, at := d.asNodes(references)
		all := steps(nodes)
		parts := tangles(nodes, all)
		if len(parts) == 0 {
			return nil
		}
		for _, part := range parts {
			r, why := d.weakest(references, nodes, at, part)
			if r == nil {
				return d.unbreakable(nodes, all, part)
			}
			r.action = OnDeleteDetach
			r.why = fmt.Sprintf("its loop is broken here (%s): %s", loopText(nodes, shortestLoop(all, part)), why)
		}
	}
}

// asNodes are the reached tables as the nodes of a plan, and where each is.
func (d *discovery) asNodes(references []*reference) (nodes []Node, at map[string]int) {
	at = map[string]int{}
	for _, name := range d.order {
		at[name] = len(nodes)
		nodes = append(nodes, Node{Name: name, Key: d.nodes[name].table.primary()})
	}
	for _, r := range references {
		_, below := at[r.to]
		if i, known := at[r.table]; known && below {
			nodes[i].Parents = append(nodes[i].Parents, r.edge())
		}
	}
	return nodes, at
}

// weakest is the edge of the component at which it is broken: nil if there is none. Edges that can be
// detached as a whole come before those of which a part can, those that the database does not delete by
// itself before those it does, those that lead back towards a root before those that lead away from it; then
// those that leave least of the loop; then the order of names decides.
func (d *discovery) weakest(references []*reference, nodes []Node, at map[string]int, part []int) (best *reference, why string) {
	type choice struct {
		r                            *reference
		partly, cascades, away, left int
	}
	var choices []choice
	for _, r := range references {
		from, known := at[r.table]
		to, above := at[r.to]
		if !known || !above || from == to || r.old || r.action != OnDeleteDelete || !slices.Contains(part, from) || !slices.Contains(part, to) {
			continue
		}
		free := d.detachable(nodes[from], r)
		if len(free) == 0 {
			continue
		}
		c := choice{r: r}
		if len(free) < len(r.columns) {
			c.partly = 1
		}
		if !restricts(r.onDelete) {
			c.cascades = 1
		}
		if d.nodes[r.table].depth > d.nodes[r.to].depth {
			c.away = 1
		}
		var rest []step
		for _, s := range steps(nodes) {
			same := s.from == from && s.to == to && s.edge.id() == r.edge().id()
			if !same && slices.Contains(part, s.from) && slices.Contains(part, s.to) {
				rest = append(rest, s)
			}
		}
		for _, left := range tangles(nodes, rest) {
			c.left += len(left)
		}
		choices = append(choices, c)
	}
	if len(choices) == 0 {
		return nil, ""
	}
	first := slices.MinFunc(choices, func(a, b choice) int {
		return cmp.Or(a.partly-b.partly, a.cascades-b.cascades, a.away-b.away, a.left-b.left, strings.Compare(a.r.table, b.r.table),
			slices.Compare(a.r.columns, b.r.columns), strings.Compare(a.r.to, b.r.to), slices.Compare(a.r.references, b.r.references))
	})
	why = "its columns may be NULL and are neither in the key nor in another edge that deletes"
	if first.partly == 1 {
		why = fmt.Sprintf("(%s) may be NULL, the others are in the key or in another edge that deletes", strings.Join(d.detachable(nodes[at[first.r.table]], first.r), ", "))
	}
	if first.away == 0 {
		why += ", and it leads back towards a root"
	}
	return first.r, why
}

// detachable are the columns that would become NULL, none if one of them must not.
func (d *discovery) detachable(n Node, r *reference) []string {
	e := r.edge()
	e.OnDelete = OnDeleteDetach
	i := slices.IndexFunc(n.Parents, func(o Edge) bool { return o.id() == e.id() })
	n.Parents = slices.Clone(n.Parents)
	n.Parents[i].OnDelete = OnDeleteDetach
	free := n.DetachColumns(e)
	for _, col := range free {
		if f := d.nodes[r.table].table.column(col); f == nil || !f.nullable || f.computed() {
			return nil
		}
	}
	return free
}

// unbreakable says for each edge of a loop why it cannot be detached.
func (d *discovery) unbreakable(nodes []Node, all []step, part []int) error {
	loop := shortestLoop(all, part)
	var reasons []string
	for _, s := range loop {
		t := d.nodes[nodes[s.from].Name].table
		var columns []string
		for _, col := range s.edge.Columns {
			f := t.column(col)
			switch {
			case f == nil:
			case containsFold(nodes[s.from].Key, col):
				columns = append(columns, col+" is in the key")
			case !f.nullable:
				columns = append(columns, col+" is NOT NULL")
			case f.computed():
				columns = append(columns, col+" is computed")
			default:
				columns = append(columns, col+" is in another edge that deletes")
			}
		}
		reasons = append(reasons, fmt.Sprintf("%s: %s", t.name, strings.Join(columns, ", ")))
	}
	return fmt.Errorf("%w: %s; no row of it can go first (%s); let one of these columns be NULL, or drop one of the foreign keys",
		ErrLoop, loopText(nodes, loop), strings.Join(reasons, "; "))
}

// computed says whether the column's value comes from others.
func (c *foundColumn) computed() bool {
	extra := strings.ToLower(c.extra)
	return strings.Contains(extra, "virtual generated") || strings.Contains(extra, "stored generated") || strings.Contains(extra, "persistent")
}
