package schematest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/onerow/onerow/schema"
)

// Tops are names of tables to begin discovery at.
func (w *World) Tops() []string {
	tops := []string{w.nodes[0].name}
	if w.chance(2) {
		tops = append(tops, w.nodes[w.r.IntN(len(w.nodes))].name)
	}
	slices.Sort(tops)
	return slices.Compact(tops)
}

// Adopt takes over a plan that was discovered below the root tables: it must have the tables that the foreign
// keys reach, with their keys and edges; which nullable edge breaks a cycle is the plan's choice, and the
// model does as it says from now on. What it does not reach is out of this world.
func (w *World) Adopt(plan schema.Plan, roots ...string) error {
	var errs []error
	say := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	circular := w.circular()
	for _, n := range w.nodes {
		found, err := plan.Node(n.name)
		if err != nil {
			continue // whether it should be there is seen below
		}
		if !slices.Equal(found.Key, n.key) || len(found.Tables) != 1 {
			say("%s: the key is %q, want %q", n.name, found.Key, n.key)
		}
		for _, e := range n.edges {
			i := slices.IndexFunc(found.Parents, func(f schema.Edge) bool { return f.Table == e.parent.name && samePairs(f, e) })
			if i < 0 {
				continue
			}
			e.action = found.Parents[i].OnDelete
			detach := e.action == schema.OnDeleteDetach
			if e.action == schema.OnDeleteKeep || detach && e.rule != "SET NULL" && (len(n.cleared(e)) == 0 || !circular[e]) || !detach && e.rule == "SET NULL" {
				say("%s %q → %s: the plan says %q, the foreign key %s", n.name, e.columns, e.parent.name, e.action, e.rule)
			}
		}
	}
	gone, stay := w.reach(roots)
	for _, n := range w.nodes {
		found, err := plan.Node(n.name)
		if planned := err == nil; planned != (gone[n] || stay[n]) || planned && found.Stays != stay[n] {
			say("%s: in the plan %t, staying %t; its rows go %t, stay %t", n.name, planned, found.Stays, gone[n], stay[n])
		}
		n.edges = slices.DeleteFunc(n.edges, func(e *edge) bool { return !gone[e.parent] })
		n.out = !gone[n]
		if len(found.Parents) != len(n.edges) {
			say("%s has the edges %v, want %d", n.name, found.Parents, len(n.edges))
		}
	}
	return errors.Join(errs...)
}

// circular are the edges from a table to another one that is above it and below it, as
// long as no foreign key sets NULL.
func (w *World) circular() map[*edge]bool {
	found := map[*edge]bool{}
	for _, n := range w.nodes {
		below := map[*node]bool{n: true}
		for grew := true; grew; {
			grew = false
			for _, c := range w.nodes {
				if !below[c] && slices.ContainsFunc(c.edges, func(e *edge) bool { return below[e.parent] && e.rule != "SET NULL" }) {
					below[c], grew = true, true
				}
			}
		}
		for _, e := range n.edges {
			found[e] = e.parent != n && below[e.parent]
		}
	}
	return found
}

// reach returns the tables of which rows go when rows of the named ones do, and those
// that only lose references.
func (w *World) reach(names []string) (gone, stay map[*node]bool) {
	gone, stay = map[*node]bool{}, map[*node]bool{}
	for grew := true; grew; {
		grew = false
		for _, n := range w.nodes {
			if !gone[n] && (slices.Contains(names, n.name) || slices.ContainsFunc(n.edges, func(e *edge) bool { return e.action == schema.OnDeleteDelete && gone[e.parent] })) {
				gone[n], grew = true, true
			}
		}
	}
	for _, n := range w.nodes {
		stay[n] = !gone[n] && slices.ContainsFunc(n.edges, func(e *edge) bool { return gone[e.parent] })
	}
	return gone, stay
}

func samePairs(f schema.Edge, e *edge) bool {
	if len(f.Columns) != len(e.columns) || len(f.References) != len(e.references) {
		return false
	}
	for i, c := range f.Columns {
		if j := slices.Index(e.columns, c); j < 0 || e.references[j] != f.References[i] {
			return false
		}
	}
	return true
}
