package discover

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/loops"
)

// breakLoops makes edges detach until no table is above itself.
func (d *discovery) breakLoops(references []*reference) error {
	for {
		all := d.steps(references)
		parts := loops.Components(len(d.order), all)
		if len(parts) == 0 {
			return nil
		}
		for _, part := range parts {
			r, why := d.weakest(references, all, part)
			if r == nil {
				return d.unbreakable(all, part)
			}
			loop := d.loopText(loops.Shortest(all, part))
			r.action = schema.OnDeleteDetach
			r.why = fmt.Sprintf("its loop is broken here (%s): %s", loop, why)
		}
	}
}

// steps are the references between two tables that were reached by which rows are deleted.
func (d *discovery) steps(references []*reference) []loops.Step[*reference] {
	at := map[string]int{}
	for i, name := range d.order {
		at[name] = i
	}
	var all []loops.Step[*reference]
	for _, r := range references {
		from, below := at[r.Table]
		to, above := at[r.To]
		if below && above && from != to && r.action == schema.OnDeleteDelete {
			all = append(all, loops.Step[*reference]{From: from, To: to, Edge: r})
		}
	}
	return all
}

func (d *discovery) loopText(loop []loops.Step[*reference]) string {
	return loops.Text(loop, func(i int) string { return d.order[i] }, func(r *reference) []string { return r.Columns })
}

// node is a table as a plan would have it, with one of its references detached.
func (d *discovery) node(references []*reference, detached *reference) schema.Node {
	n := schema.Node{Name: detached.Table, Key: d.nodes[detached.Table].table.Primary()}
	for _, r := range references {
		if r.Table == n.Name && d.nodes[r.To] != nil {
			e := r.edge()
			if r == detached {
				e.OnDelete = schema.OnDeleteDetach
			}
			n.Parents = append(n.Parents, e)
		}
	}
	return n
}

// weakest is the edge of the component at which it is broken: nil if there is none. Edges that can be
// detached as a whole come before those of which a part can, those that the database does not delete by
// itself before those it does, those that lead back towards a root before those that lead away from it; then
// those that leave least of the loop; then the order of names decides.
func (d *discovery) weakest(references []*reference, all []loops.Step[*reference], part []int) (best *reference, why string) {
	type choice struct {
		r                            *reference
		partly, cascades, away, left int
	}
	var choices []choice
	for _, s := range all {
		r := s.Edge
		if r.old || !slices.Contains(part, s.From) || !slices.Contains(part, s.To) {
			continue
		}
		free := d.detachable(references, r)
		if len(free) == 0 {
			continue
		}
		c := choice{r: r}
		if len(free) < len(r.Columns) {
			c.partly = 1
		}
		if !dict.Restricts(r.OnDelete) {
			c.cascades = 1
		}
		if d.nodes[r.Table].depth > d.nodes[r.To].depth {
			c.away = 1
		}
		var rest []loops.Step[*reference]
		for _, o := range all {
			if !r.same(o.Edge) && slices.Contains(part, o.From) && slices.Contains(part, o.To) {
				rest = append(rest, o)
			}
		}
		for _, left := range loops.Components(len(d.order), rest) {
			c.left += len(left)
		}
		choices = append(choices, c)
	}
	if len(choices) == 0 {
		return nil, ""
	}
	first := slices.MinFunc(choices, func(a, b choice) int {
		return cmp.Or(a.partly-b.partly, a.cascades-b.cascades, a.away-b.away, a.left-b.left, strings.Compare(a.r.Table, b.r.Table),
			slices.Compare(a.r.Columns, b.r.Columns), strings.Compare(a.r.To, b.r.To), slices.Compare(a.r.References, b.r.References))
	})
	why = "its columns may be NULL and are neither in the key nor in another edge that deletes"
	if first.partly == 1 {
		why = fmt.Sprintf("(%s) may be NULL, the others are in the key or in another edge that deletes", strings.Join(d.detachable(references, first.r), ", "))
	}
	if first.away == 0 {
		why += ", and it leads back towards a root"
	}
	return first.r, why
}

// detachable are the columns that would become NULL, none if one of them must not.
func (d *discovery) detachable(references []*reference, r *reference) []string {
	e := r.edge()
	e.OnDelete = schema.OnDeleteDetach
	free := d.node(references, r).DetachColumns(e)
	for _, col := range free {
		if f := d.nodes[r.Table].table.Column(col); f == nil || !f.Nullable || f.Computed() {
			return nil
		}
	}
	return free
}

// unbreakable says for each edge of a loop why it cannot be detached.
func (d *discovery) unbreakable(all []loops.Step[*reference], part []int) error {
	loop := loops.Shortest(all, part)
	var reasons []string
	for _, s := range loop {
		t := d.nodes[s.Edge.Table].table
		var columns []string
		for _, col := range s.Edge.Columns {
			f := t.Column(col)
			switch {
			case f == nil:
			case colset.Has(t.Primary(), col):
				columns = append(columns, col+" is in the key")
			case !f.Nullable:
				columns = append(columns, col+" is NOT NULL")
			case f.Computed():
				columns = append(columns, col+" is computed")
			default:
				columns = append(columns, col+" is in another edge that deletes")
			}
		}
		reasons = append(reasons, fmt.Sprintf("%s: %s", t.Name, strings.Join(columns, ", ")))
	}
	return fmt.Errorf("%w: a loop that cannot be broken: %s; no row of it can go first (%s); let one of these columns be NULL, or drop one of the foreign keys",
		ErrNoPlan, d.loopText(loop), strings.Join(reasons, "; "))
}
