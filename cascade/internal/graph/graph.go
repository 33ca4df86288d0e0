// Package graph is a plan with what the catalog says of its tables: all that statements about the rows below
// a row are made of. Node is a resource or a table of the plan, Table one of its tables (a resource has an
// active and an archived one), Edge leads from a node to the rows below it, Source is one of the child's
// tables as it is seen over an edge, with the index along which it is walked.
//
// A graph is not changed once it is made. [Read] makes it, in ten statements.
package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// Graph is a plan with what the catalog says of its tables: all that the statements need.
// It is not changed once it is made.
type Graph struct {
	Fingerprint string
	Nodes       map[string]*Node
}

// Node is a resource or a table of the plan.
type Node struct {
	schema.Node
	Tables []*Table
	Edges  []*Edge // to what is below
	refs   []refs  // what the edges refer to, other than the key
	Above  int     // how many edges delete its rows
	Self   bool    // its rows may be below its own
	Marks  bool    // deleting an active row moves the quota of an owner who stays
}

// refs is a set of columns that an edge refers to.
type refs struct {
	columns []string
	asText  bool
}

// Table is one of a node's tables.
type Table struct {
	Name   string
	Active bool
	Node   *Node
	From   string // quoted
	Key    rowkey.Codec
	Refs   []rowkey.Codec // as Node.refs
	Guards [][]Guard      // as Node.refs
	Owner  rowkey.Codec
}

// Edge leads from a node to the rows below it.
type Edge struct {
	Parent, Child *Node
	key           bool // it refers to the parent's key, else to refs[ref]
	ref           int
	Detach        bool // the rows below are not deleted but detached
	Self          bool
	Leaf          bool // the rows below are deleted unread: nothing goes with them
	Sources       []*Source
}

// Source is one of the child's tables, as it is seen over an edge.
type Source struct {
	*Table
	Edge    *Edge
	Columns rowkey.Codec // of the edge
	When    string       // its condition, or empty; " AND " follows
	WhenC   string       // the same behind the alias c; " AND " stands before
	Index   string       // " FORCE INDEX (…)", or empty
	order   rowkey.Codec // that of the rows along it
	Sorted  bool         // the index delivers the rows in that order, whatever the engine
	outside string       // a column that keeps the index from being read as a whole, or empty
	Nulls   []string     // the columns that become NULL when a row is detached, or a loop cut; quoted
}

// newGraph makes the graph of a plan that has passed its check.
func newGraph(plan schema.Plan, cat *schema.Catalog, indexes indexes) (*Graph, error) {
	g := &Graph{Fingerprint: cat.Fingerprint(plan), Nodes: map[string]*Node{}}
	for _, n := range plan.Nodes() {
		made, err := newNode(n, cat)
		if err != nil {
			return nil, err
		}
		g.Nodes[n.Name] = made
	}
	for _, n := range plan.Nodes() {
		child := g.Nodes[n.Name]
		for _, declared := range n.Parents {
			if declared.OnDelete == schema.OnDeleteKeep {
				continue
			}
			if err := g.Nodes[declared.Table].addEdge(child, declared, cat, indexes); err != nil {
				return nil, err
			}
		}
	}
	for _, n := range g.Nodes {
		for _, e := range n.Edges {
			e.Leaf = !e.Detach && len(e.Child.Edges) == 0 && e.Child.Asset == "" && !e.Child.Marks
		}
	}
	return g, nil
}

func newNode(declared schema.Node, cat *schema.Catalog) (*Node, error) {
	n := &Node{Node: declared, Marks: marks(declared)}
	for i, name := range declared.Tables {
		t := &Table{Name: name, Active: i == 0, Node: n, From: schema.Quote(name)}
		primary := cat.PrimaryKey(name)
		if _, ok := cat.Column(name, declared.Key[0]); !ok {
			return nil, fmt.Errorf("%w: there is no column %q in a table %q, or the user has no right on it", schema.ErrInvalidPlan, declared.Key[0], name)
		}
		if !slices.EqualFunc(primary, declared.Key, strings.EqualFold) {
			return nil, fmt.Errorf("%w: the primary key of %q is (%s), the plan says (%s); see cascade-worker verify",
				schema.ErrInvalidPlan, name, strings.Join(primary, ", "), strings.Join(declared.Key, ", "))
		}
		var err error
		if t.Key, err = rowkey.New(cat, name, declared.Key); err != nil {
			return nil, fmt.Errorf("cascade: the key of %q: %w", name, err)
		}
		if n.Marks {
			if t.Owner, err = rowkey.New(cat, name, []string{declared.Owner}); err != nil {
				return nil, fmt.Errorf("cascade: the owner of %q: %w", name, err)
			}
		}
		n.Tables = append(n.Tables, t)
	}
	return n, nil
}

// marks says whether an owner stays when rows go: not where the owner is the only row
// above and so goes too.
func marks(n schema.Node) bool {
	if n.Quota == "" {
		return false
	}
	var deletes []schema.Edge
	for _, e := range n.Parents {
		if e.OnDelete == schema.OnDeleteDelete {
			deletes = append(deletes, e)
		}
	}
	return len(deletes) != 1 || !slices.Equal(deletes[0].Columns, []string{n.Owner})
}

// addEdge makes the edge from n to a child that has declared it.
func (n *Node) addEdge(child *Node, declared schema.Edge, cat *schema.Catalog, indexes indexes) error {
	e := &Edge{Parent: n, Child: child, Detach: declared.OnDelete == schema.OnDeleteDetach}
	e.Self = n == child && !e.Detach
	if !e.Detach {
		child.Above++
		child.Self = child.Self || e.Self
	}
	above, err := rowkey.New(cat, n.Tables[0].Name, declared.References)
	if err != nil {
		return fmt.Errorf("cascade: what %q refers to: %w", child.Name, err)
	}
	for _, t := range child.Tables {
		s := &Source{Table: t, Edge: e}
		if s.Columns, err = rowkey.New(cat, t.Name, declared.Columns); err != nil {
			return fmt.Errorf("cascade: the edge from %q to %q: %w", child.Name, n.Name, err)
		}
		asText := false
		if !s.Columns.Fits(above) {
			if asText = s.Columns.Fits(above.AsText()); !asText {
				return fmt.Errorf("cascade: the edge from %q to %q: %w: the types of (%s) and of (%s) do not compare", child.Name, n.Name,
					rowkey.ErrType, strings.Join(declared.Columns, ", "), strings.Join(declared.References, ", "))
			}
		}
		if e.key, e.ref, err = n.refer(declared.References, asText, cat, indexes); err != nil {
			return err
		}
		if s.When, err = rowkey.Where(cat, t.Name, "", declared.When); err != nil {
			return fmt.Errorf("cascade: the condition of the edge from %q to %q: %w", child.Name, n.Name, err)
		}
		if s.When != "" {
			if s.WhenC, err = rowkey.Where(cat, t.Name, "c", declared.When); err != nil {
				return err
			}
			s.When, s.WhenC = s.When+" AND ", " AND "+s.WhenC
		}
		for _, column := range child.DetachColumns(declared) {
			if info, ok := cat.Column(t.Name, column); ok && info.Nullable {
				s.Nulls = append(s.Nulls, ident.Quote(column)+" = NULL")
			}
		}
		if e.Detach && len(s.Nulls) == 0 {
			return fmt.Errorf("%w: rows of %q cannot be detached from %q: none of (%s) may be NULL", schema.ErrInvalidPlan, t.Name, n.Name, strings.Join(declared.Columns, ", "))
		}
		if err := s.walkBy(declared, cat, indexes); err != nil {
			return err
		}
		e.Sources = append(e.Sources, s)
	}
	n.Edges = append(n.Edges, e)
	return nil
}

// refer finds or makes the columns that an edge refers to among those that are read of a
// node's rows.
func (n *Node) refer(columns []string, asText bool, cat *schema.Catalog, indexes indexes) (key bool, ref int, err error) {
	if !asText && slices.EqualFunc(columns, n.Key, strings.EqualFold) {
		return true, 0, nil
	}
	for i, have := range n.refs {
		if have.asText == asText && slices.EqualFunc(columns, have.columns, strings.EqualFold) {
			return false, i, nil
		}
	}
	n.refs = append(n.refs, refs{columns, asText})
	for _, t := range n.Tables {
		c, err := rowkey.New(cat, t.Name, columns)
		if err != nil {
			return false, 0, fmt.Errorf("cascade: what is referred to: %w", err)
		}
		if asText {
			c = c.AsText()
		}
		t.Refs, t.Guards = append(t.Refs, c), append(t.Guards, t.guard(columns, asText, cat, indexes))
	}
	return false, len(n.refs) - 1, nil
}

// Referred is the columns of a parent's table that the edge refers to.
func (e *Edge) Referred(t *Table) rowkey.Codec {
	if e.key {
		return t.Key
	}
	return t.Refs[e.ref]
}

// Keys are what the edge's columns hold in the rows below the parents. A parent in
// which a part of it is NULL has nothing below it.
func (e *Edge) Keys(parents []Row) []rowkey.Key {
	keys := make([]rowkey.Key, 0, len(parents))
	for _, p := range parents {
		k := p.Key
		if !e.key {
			if e.ref >= len(p.Refs) {
				continue
			}
			k = p.Refs[e.ref]
		}
		if k != "" {
			keys = append(keys, k)
		}
	}
	return keys
}

// Cuttable says whether a loop of rows can be cut at the edge.
func (e *Edge) Cuttable() bool {
	return !slices.ContainsFunc(e.Sources, func(s *Source) bool { return len(s.Nulls) == 0 })
}

// MetTwice says whether a walk may come to a row of the node again: over another edge, or in a loop.
func (n *Node) MetTwice() bool { return n.Above > 1 || n.Self }
