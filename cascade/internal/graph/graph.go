// Package graph is a plan with what the catalog says of its tables: all that statements about the rows below
// a row are made of. Node is a resource or a table of the plan, Table one of its tables (a resource has an
// active and an archived one), Edge leads from a node to the rows below it, Source is one of the child's
// tables as it is seen over an edge, with the index along which it is walked, or scanned as a whole. Workers,
// dry runs, the search for orphans and the sweep make their statements of it.
//
// A graph is not changed once it is made. [Read] makes it, in ten statements.
//
// Open this package when a statement needs another column, index or key of the tables below a row.
package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// Graph is a plan with what the catalog says of its tables.
type Graph struct {
	Fingerprint string
	Description string // whose fingerprint it is
	Nodes       map[string]*Node
	Edges       []*Edge // in the order in which the plan declares them
}

// Node is a resource or a table of the plan.
type Node struct {
	schema.Node
	Tables []*Table
	Edges  []*Edge // to what is below
	refs   []refs  // what the edges refer to, other than the key
	Above  int     // how many edges delete its rows
	Self   bool    // its rows may be below its own
	Owned  bool    // deleting a row moves the quota or a limit of an owner who stays
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
	Trash  *Trash // where its deleted rows are kept; nil: they are not
	Due    *Due   // which rows the plan's retention finds; nil: none
}

// Trash is the table that keeps the deleted rows of a table.
type Trash struct {
	From    string   // quoted
	Columns string   // that both have, quoted, with commas between
	Written string   // those of them that are not computed
	Dropped []string // that the table has no more, and its kept rows have still
	names   []string
	Keep    time.Duration
	// Moves are times that change by themselves with each UPDATE (ON UPDATE CURRENT_TIMESTAMP), quoted. They
	// stay when a reference is cut, as under a foreign key's SET NULL, and when it comes back.
	Moves []string
	// lost are the conditions that a row, under the alias c, refers to a row that is not there, over an edge
	// without a foreign key. It may do so again when it comes back. bits are how each edge is noted.
	lost map[*Edge]string
	bits map[*Edge]int
}

// Has says whether the table has these columns still.
func (t *Trash) Has(columns []string) bool {
	return containsAll(t.names, columns)
}

// newGraph makes the graph of a plan that has passed its check.
func newGraph(plan schema.Plan, cat *catalog.Catalog, indexes indexes) (*Graph, error) {
	text := cat.Describe(plan)
	sum := sha256.Sum256([]byte(text))
	g := &Graph{Fingerprint: hex.EncodeToString(sum[:16]), Description: text, Nodes: map[string]*Node{}}
	nodes := plan.Nodes()
	for _, n := range nodes {
		made, err := newNode(nodes, n, cat)
		if err != nil {
			return nil, err
		}
		g.Nodes[n.Name] = made
	}
	for _, n := range nodes {
		child := g.Nodes[n.Name]
		for _, declared := range n.Parents {
			if declared.OnDelete == schema.OnDeleteKeep {
				continue
			}
			e, err := g.Nodes[declared.Table].addEdge(child, declared, cat, indexes)
			if err != nil {
				return nil, err
			}
			g.Edges = append(g.Edges, e)
		}
	}
	for _, e := range g.Edges {
		e.Leaf = !e.Detach && len(e.Child.Edges) == 0 && e.Child.Asset == "" && !e.Child.Owned
	}
	for _, e := range g.Edges {
		for _, s := range e.Sources {
			if s.Trash == nil {
				continue
			}
			s.Trash.bits[e] = 1 << min(len(s.Trash.bits), maxBits-1)
			if s.Soft() {
				s.Trash.lost[e] = s.lost()
			}
		}
	}
	return g, nil
}

func newNode(nodes []schema.Node, declared schema.Node, cat *catalog.Catalog) (*Node, error) {
	n := &Node{Node: declared, Owned: ownerStays(declared)}
	for i, name := range declared.Tables {
		t := &Table{Name: name, Active: i == 0, Node: n, From: ident.Quote(name)}
		if _, ok := cat.Column(name, declared.Key[0]); !ok {
			return nil, noColumn(name, declared.Key[0])
		}
		if primary := cat.PrimaryKey(name); !slices.EqualFunc(primary, declared.Key, strings.EqualFold) {
			return nil, fmt.Errorf("%w: the primary key of %q is (%s), the plan says (%s); see cascade-worker verify",
				schema.ErrInvalidPlan, name, strings.Join(primary, ", "), strings.Join(declared.Key, ", "))
		}
		var err error
		if t.Key, err = rowkey.New(cat, name, declared.Key); err != nil {
			return nil, fmt.Errorf("cascade: the key of %q: %w", name, err)
		}
		if n.Owned {
			if t.Owner, err = rowkey.New(cat, name, declared.Owners); err != nil {
				return nil, fmt.Errorf("cascade: the owner of %q: %w", name, err)
			}
		}
		if declared.Asset != "" {
			if _, ok := cat.Column(name, declared.Asset); !ok {
				return nil, noColumn(name, declared.Asset)
			}
		}
		if declared.Trash > 0 {
			if t.Trash, err = newTrash(nodes, declared, name, cat); err != nil {
				return nil, err
			}
		}
		if slices.Contains(declared.Retained, name) {
			t.Due = newDue(t, cat)
		}
		n.Tables = append(n.Tables, t)
	}
	return n, nil
}

// newTrash refuses what could not be brought back as it was.
func newTrash(nodes []schema.Node, declared schema.Node, table string, cat *catalog.Catalog) (*Trash, error) {
	names, written, err := cat.TrashColumns(nodes, declared, table)
	if err != nil {
		return nil, err
	}
	t := &Trash{From: ident.Quote(ident.TrashTable(table)), Columns: ident.Quotes(names...), Written: ident.Quotes(written...), names: names, Keep: time.Duration(declared.Trash), lost: map[*Edge]string{}, bits: map[*Edge]int{}}
	for _, column := range cat.Columns(table) {
		if column.Moves {
			t.Moves = append(t.Moves, ident.Quote(column.Name))
		}
	}
	for _, column := range cat.Columns(ident.TrashTable(table)) {
		if own := []string{ident.ColTrashJob, ident.ColTrashStep, ident.ColTrashLost}; !slices.Contains(own, column.Name) && !t.Has([]string{column.Name}) {
			t.Dropped = append(t.Dropped, column.Name)
		}
	}
	return t, nil
}

func noColumn(table, column string) error {
	return fmt.Errorf("%w: there is no column %q in a table %q, or the user has no right on it", schema.ErrInvalidPlan, column, table)
}

// ownerStays says whether there is a quota whose owner stays when rows go: not where the owner is the only
// row above and so goes too. A limit counts rows that a deletion hid, which go alone.
func ownerStays(n schema.Node) bool {
	switch {
	case len(n.Limits) > 0:
		return true
	case n.Quota == "":
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

// Table is the table of a name, nil if the plan has none.
func (g *Graph) Table(name string) *Table {
	for _, n := range g.Nodes {
		for _, t := range n.Tables {
			if t.Name == name {
				return t
			}
		}
	}
	return nil
}

// Reach is the node and all whose rows may go with one of its rows, over edges that delete.
func (n *Node) Reach() map[*Node]bool {
	reached := map[*Node]bool{}
	var visit func(n *Node)
	visit = func(n *Node) {
		if reached[n] {
			return
		}
		reached[n] = true
		for _, e := range n.Edges {
			if !e.Detach {
				visit(e.Child)
			}
		}
	}
	visit(n)
	return reached
}

// MetTwice says whether a walk may come to a row of the node again: over another edge, or in a loop.
func (n *Node) MetTwice() bool { return n.Above > 1 || n.Self }
