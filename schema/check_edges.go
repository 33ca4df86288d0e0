package schema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

// checkTable says what is wrong with an existing table, but for its edges.
func (p Plan) checkTable(t Table, i int) []error {
	var errs []error
	say := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(t.Name) > shape.MaxResource {
		say("its name has %d bytes; jobs hold names of 1 to %d", len(t.Name), shape.MaxResource)
	}
	names := append(t.tables(), t.Key...)
	if t.Asset != "" {
		names = append(names, t.Asset)
	}
	for _, name := range names {
		if err := ident.Check(name); err != nil {
			say("%w", err)
		}
	}
	if len(t.Key) == 0 {
		say("it has no key; name the columns of its primary key")
	}
	if twice := colset.Twice(t.Key); twice != "" {
		say("its key has the column %q twice", twice)
	}
	declared := slices.ContainsFunc(p.Resources, func(r Resource) bool { return r.Name == t.Name }) ||
		slices.ContainsFunc(p.Tables[:i], func(e Table) bool { return e.Name == t.Name })
	if declared {
		say("it is declared twice")
	}
	if t.Stays && t.Archive != "" {
		say("its rows stay, so none are in an archive table")
	}
	return append(errs, checkRetention(t.Retention, t.Stays, func(string) bool { return true })...)
}

// checkEdges says what is wrong with the edges of all nodes.
func (p Plan) checkEdges() []error {
	var errs []error
	nodes := p.Nodes()
	for _, n := range nodes {
		kind := "table"
		if n.Managed {
			kind = "resource"
		}
		seen := map[string]bool{}
		for i, e := range n.Parents {
			if n.Managed && i == 0 && p.isParent(n.Name, e) {
				seen[e.id()] = true // checkResource looks at it
				continue
			}
			for _, err := range p.checkEdge(nodes, n, e) {
				errs = append(errs, fmt.Errorf("%s %q: the edge to %q: %w", kind, n.Name, e.Table, err))
			}
			if seen[e.id()] {
				errs = append(errs, fmt.Errorf("%s %q: the edge to %q on (%s) is declared twice", kind, n.Name, e.Table, strings.Join(e.Columns, ", ")))
			}
			seen[e.id()] = true
		}
	}
	if len(errs) > 0 {
		return errs
	}
	for _, loop := range loopsOf(nodes) {
		errs = append(errs, fmt.Errorf("rows below rows go round in a loop: %s; break it: give one of these edges on_delete: detach (its columns become NULL) or keep", loop))
	}
	return errs
}

// isParent says whether the edge is the resource's Parent, not one of its Parents.
func (p Plan) isParent(name string, e Edge) bool {
	return slices.ContainsFunc(p.Resources, func(r Resource) bool {
		return r.Name == name && r.Parent.Resource == e.Table && slices.Equal(e.Columns, []string{r.Parent.Column})
	})
}

// id is the same for two edges that say where the same rows are.
func (e Edge) id() string {
	return strings.ToLower(fmt.Sprintf("%q %q %q %q", e.Table, e.Columns, e.References, e.When))
}

func (p Plan) checkEdge(nodes []Node, n Node, e Edge) []error {
	var errs []error
	say := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	i := slices.IndexFunc(nodes, func(above Node) bool { return above.Name == e.Table })
	if i < 0 {
		say("the plan has no resource or table of that name")
		return errs
	}
	when := slices.Sorted(maps.Keys(e.When))
	for _, name := range slices.Concat(e.Columns, e.References, when) {
		if err := ident.Check(name); err != nil {
			say("%w", err)
		}
	}
	switch {
	case len(e.Columns) == 0:
		say("it has no columns")
	case len(e.Columns) != len(e.References):
		say("its %d columns (%s) cannot hold the %d columns (%s)", len(e.Columns), strings.Join(e.Columns, ", "), len(e.References), strings.Join(e.References, ", "))
	}
	if twice := colset.Twice(slices.Concat(e.Columns, when)); twice != "" {
		say("it has the column %q twice", twice)
	}
	if twice := colset.Twice(e.References); twice != "" {
		say("it references the column %q twice", twice)
	}
	for _, col := range when {
		if !utf8.ValidString(e.When[col]) {
			say("the value of %q is not UTF-8", col)
		}
	}
	if n.Managed {
		for _, col := range slices.Concat(e.Columns, when, e.marked()) {
			if r, err := p.Resource(n.Name); err == nil && !colset.Has(r.Shared(), col) {
				say("it has the column %q, which is not declared", col)
			}
		}
	}
	if above := nodes[i]; above.Managed {
		for _, col := range e.References {
			if r, err := p.Resource(above.Name); err == nil && !colset.Has(r.Shared(), col) {
				say("it references the column %q, which %q does not declare", col, above.Name)
			}
		}
	}
	return append(errs, checkAction(nodes[i], n, e)...)
}

// checkAction says why the edge's action is impossible.
func checkAction(above, n Node, e Edge) []error {
	switch e.OnDelete {
	case OnDeleteKeep:
		return nil
	case OnDeleteDelete:
		if n.Stays {
			return []error{errors.New("it deletes rows of a table whose rows stay; make it on_delete: detach or keep, or take stays away")}
		}
	case OnDeleteDetach:
		if len(e.Columns) > 0 && len(n.DetachColumns(e)) == 0 {
			return []error{fmt.Errorf("it cannot be detached: each of its columns (%s) is in the key or in an edge by which the row is deleted", strings.Join(e.Columns, ", "))}
		}
	default:
		mark := e.OnDelete.Mark()
		if mark == "" {
			return []error{fmt.Errorf("on_delete %q is neither %s, %s, %s nor %s", e.OnDelete, OnDeleteDelete, OnDeleteDetach, OnDeleteKeep, OnDeleteMark("column"))}
		}
		if errs := n.checkMark(mark); len(errs) > 0 {
			return errs
		}
	}
	if above.Stays && above.Name != n.Name {
		return []error{fmt.Errorf("the rows of %q stay, so nothing becomes of rows below them; make it on_delete: keep, or take stays away", above.Name)}
	}
	return nil
}

// DetachColumns are the columns that change when the row is detached: the one that is marked, or those of
// the edge, which become NULL: those that are neither in the node's key nor in an edge by which its rows
// are deleted; an edge that the same row cannot have, for its type is another, does not count. A foreign
// key binds no row of which one of its columns is NULL.
func (n Node) DetachColumns(e Edge) []string {
	if mark := e.OnDelete.Mark(); mark != "" {
		return []string{mark}
	}
	var columns []string
	for _, col := range e.Columns {
		holds := func(o Edge) bool { return o.OnDelete == OnDeleteDelete && colset.Has(o.Columns, col) }
		if o := e; o.OnDelete == OnDeleteDelete { // a loop of rows is cut at this very edge
			holds = func(o Edge) bool {
				return o.OnDelete == OnDeleteDelete && o.id() != e.id() && colset.Has(o.Columns, col)
			}
		}
		with := holds
		holds = func(o Edge) bool { return with(o) && !apart(o, e) }
		if !colset.Has(n.Key, col) && !slices.ContainsFunc(n.Parents, holds) {
			columns = append(columns, col)
		}
	}
	return columns
}

// apart says whether no row has both edges: their conditions want different words in one
// column. What a collation might take for the same is not different.
func apart(a, b Edge) bool {
	for column, value := range a.When {
		for other, wanted := range b.When {
			if strings.EqualFold(column, other) && isWord(value) && isWord(wanted) && !strings.EqualFold(value, wanted) {
				return true
			}
		}
	}
	return false
}

func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
