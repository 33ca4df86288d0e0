package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/loops"
	"github.com/onerow/onerow/schema/internal/shape"
)

// table looks at an existing table, but for its edges.
func (c *checker) table(t Table, i int) {
	if len(t.Name) > shape.MaxResource {
		c.say("its name has %d bytes; jobs hold names of 1 to %d", len(t.Name), shape.MaxResource)
	}
	c.identifiers(slices.Concat(t.tables(), t.Key, colset.Some(t.Asset)))
	if len(t.Key) == 0 {
		c.say("it has no key; name the columns of its primary key")
	}
	if twice := colset.Twice(t.Key); twice != "" {
		c.say("its key has the column %q twice", twice)
	}
	if slices.ContainsFunc(c.nodes[:len(c.plan.Resources)+i], func(n Node) bool { return n.Name == t.Name }) {
		c.say("it is declared twice")
	}
	if t.Stays && t.Archive != "" {
		c.say("its rows stay, so none are in an archive table")
	}
}

// edges looks at the edges of all nodes, and, if there is nothing wrong with any, for loops.
func (c *checker) edges() {
	before := len(c.errs)
	for _, n := range c.nodes {
		about := fmt.Sprintf("table %q: ", n.Name)
		if n.Managed {
			about = fmt.Sprintf("resource %q: ", n.Name)
		}
		seen := map[string]bool{}
		for i, e := range n.Parents {
			if c.about = fmt.Sprintf("%sthe edge to %q: ", about, e.Table); i > 0 || !c.plan.hasParent(n) { // parent has looked at that
				c.edge(n, e)
			}
			if c.about = about; seen[e.id()] {
				c.say("the edge to %q on (%s) is declared twice", e.Table, strings.Join(e.Columns, ", "))
			}
			seen[e.id()] = true
		}
	}
	if c.about = ""; len(c.errs) > before {
		return
	}
	for _, loop := range loopsOf(c.nodes) {
		c.say("rows below rows go round in a loop: %s; break it: give one of these edges on_delete: detach (its columns become NULL) or keep", loop)
	}
}

// hasParent says whether the node's first edge is a resource's Parent, not one of its Parents.
func (p Plan) hasParent(n Node) bool {
	return n.Managed && slices.ContainsFunc(p.Resources, func(r Resource) bool { return r.Name == n.Name && r.Parent.Column != "" })
}

// id is the same for two edges that say where the same rows are.
func (e Edge) id() string {
	return strings.ToLower(fmt.Sprintf("%q %q %q %q", e.Table, e.Columns, e.References, e.When))
}

func (c *checker) edge(n Node, e Edge) {
	i := slices.IndexFunc(c.nodes, func(above Node) bool { return above.Name == e.Table })
	if i < 0 {
		c.say("the plan has no resource or table of that name")
		return
	}
	when := slices.Sorted(maps.Keys(e.When))
	c.identifiers(slices.Concat(e.Columns, e.References, when))
	switch {
	case len(e.Columns) == 0:
		c.say("it has no columns")
	case len(e.Columns) != len(e.References):
		c.say("its %d columns (%s) cannot hold the %d columns (%s)", len(e.Columns), strings.Join(e.Columns, ", "), len(e.References), strings.Join(e.References, ", "))
	}
	if twice := colset.Twice(slices.Concat(e.Columns, when)); twice != "" {
		c.say("it has the column %q twice", twice)
	}
	if twice := colset.Twice(e.References); twice != "" {
		c.say("it references the column %q twice", twice)
	}
	for _, col := range when {
		if !utf8.ValidString(e.When[col]) {
			c.say("the value of %q is not UTF-8", col)
		}
	}
	for _, col := range c.undeclared(n, slices.Concat(e.Columns, when, e.marked())) {
		c.say("it has the column %q, which is not declared", col)
	}
	for _, col := range c.undeclared(c.nodes[i], e.References) {
		c.say("it references the column %q, which %q does not declare", col, e.Table)
	}
	c.action(c.nodes[i], n, e)
}

// undeclared returns the columns that a resource does not have. What a table has only the database knows.
func (c *checker) undeclared(n Node, columns []string) []string {
	r, err := c.plan.Resource(n.Name)
	if !n.Managed || err != nil {
		return nil
	}
	shared := r.Shared()
	return slices.DeleteFunc(slices.Clone(columns), func(col string) bool { return colset.Has(shared, col) })
}

// action looks at what becomes of rows by an edge.
func (c *checker) action(above, n Node, e Edge) {
	mark := e.OnDelete.Mark()
	switch {
	case e.OnDelete == OnDeleteKeep:
		return
	case e.OnDelete == OnDeleteDelete && n.Stays:
		c.say("it deletes rows of a table whose rows stay; make it on_delete: detach or keep, or take stays away")
		return
	case e.OnDelete == OnDeleteDetach && len(e.Columns) > 0 && len(n.DetachColumns(e)) == 0:
		c.say("it cannot be detached: each of its columns (%s) is in the key or in an edge by which the row is deleted", strings.Join(e.Columns, ", "))
		return
	case mark == "" && e.OnDelete != OnDeleteDelete && e.OnDelete != OnDeleteDetach:
		c.say("on_delete %q is neither %s, %s, %s nor %s", e.OnDelete, OnDeleteDelete, OnDeleteDetach, OnDeleteKeep, OnDeleteMark("column"))
		return
	case mark != "" && !c.mark(n, mark):
		return
	}
	if above.Stays && above.Name != n.Name {
		c.say("the rows of %q stay, so nothing becomes of rows below them; make it on_delete: keep, or take stays away", above.Name)
	}
}

// mark says whether rows of a node can be marked in a column, and, if not, why.
func (c *checker) mark(n Node, column string) bool {
	before := len(c.errs)
	if err := ident.Check(column); err != nil {
		c.say("%w", err)
	}
	if colset.Has(slices.Concat(n.Key, n.Owners, []string{n.Asset, n.Quota}), column) {
		c.say("it cannot mark rows in %q, which says which row it is, whose, or what it has", column)
	}
	for _, e := range n.Parents {
		if colset.Has(slices.AppendSeq(slices.Clone(e.Columns), maps.Keys(e.When)), column) {
			c.say("it cannot mark rows in %q, by which they are below %q", column, e.Table)
		}
	}
	return len(c.errs) == before
}

// loopsOf names one loop of each component: "staff (store_id) → store (manager_id) → staff".
func loopsOf(nodes []Node) (texts []string) {
	at := map[string]int{}
	for i, n := range nodes {
		at[n.Name] = i
	}
	var all []loops.Step[Edge] // by which rows are deleted, but for those from a node to itself
	for i, n := range nodes {
		for _, e := range n.Parents {
			if to, known := at[e.Table]; known && e.OnDelete == OnDeleteDelete && to != i {
				all = append(all, loops.Step[Edge]{From: i, To: to, Edge: e})
			}
		}
	}
	for _, part := range loops.Components(len(nodes), all) {
		texts = append(texts, loops.Text(loops.Shortest(all, part), func(i int) string { return nodes[i].Name }, func(e Edge) []string { return e.Columns }))
	}
	return texts
}

// DetachColumns are the columns that change when the row is detached: the one that is marked, or those of
// the edge, which become NULL: those that are neither in the node's key nor in an edge by which its rows
// are deleted; an edge that the same row cannot have, for its type is another, does not count. A foreign
// key binds no row of which one of its columns is NULL.
func (n Node) DetachColumns(e Edge) []string {
	if mark := e.OnDelete.Mark(); mark != "" {
		return []string{mark}
	}
	return slices.DeleteFunc(slices.Clone(e.Columns), func(col string) bool {
		return colset.Has(n.Key, col) || slices.ContainsFunc(n.Parents, func(o Edge) bool {
			cut := e.OnDelete == OnDeleteDelete && o.id() == e.id() // a loop of rows is cut at this very edge
			return o.OnDelete == OnDeleteDelete && !cut && !apart(o, e) && colset.Has(o.Columns, col)
		})
	})
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
