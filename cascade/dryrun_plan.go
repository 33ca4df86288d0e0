package cascade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// dryNode is a node of the plan below the root, as a dry run sees it.
type dryNode struct {
	schema.Node
	tables []dryNodeTable
	refs   []refSet  // what rows below refer to; the first is the key
	below  []dryEdge // deleted or detached with a row of this node
	unread bool      // its rows are counted and not read
	rows   []dryRow  // known and not expanded yet
}

// refSet is columns that rows below refer to, perhaps by columns of text.
type refSet struct {
	columns []string
	text    bool
}

// codec reads the set from a table.
func (s refSet) codec(cat *schema.Catalog, table string) (rowkey.Codec, error) {
	c, err := rowkey.New(cat, table, s.columns)
	if s.text {
		c = c.AsText()
	}
	return c, err
}

// dryNodeTable is one of a node's tables: how its key and the other sets are read.
type dryNodeTable struct {
	name string
	refs []rowkey.Codec
}

// dryRow is a row in memory: its value of each of the node's sets, "" where it is NULL.
type dryRow struct{ refs []rowkey.Key }

// dryEdge leads from a node to rows below its rows.
type dryEdge struct {
	child *dryNode
	edge  schema.Edge
	ref   int      // which of the parent's sets it refers to
	finds []finder // one for each table of the child
	keyed bool     // of a detach: rows may be reached twice, or be deleted
}

// finder finds the rows of a table that hold an edge, by an index.
type finder struct {
	table, index, when string
	columns            rowkey.Codec
}

// from is what follows the select list: rows under one of the parents' values.
func (f finder) from(parents []rowkey.Key) string {
	return fmt.Sprintf(" FROM %s AS t FORCE INDEX (%s) WHERE %s%s", schema.Quote(f.table), schema.Quote(f.index), f.when, f.columns.In("t", parents))
}

func newFinder(cat *schema.Catalog, table string, e schema.Edge) (f finder, err error) {
	f.table = table
	if f.columns, err = rowkey.New(cat, table, e.Columns); err != nil {
		return f, err
	}
	if f.when, err = rowkey.Where(cat, table, "t", e.When); err != nil {
		return f, err
	}
	if f.when != "" {
		f.when += " AND "
	}
	var ok bool
	if f.index, ok = cat.EdgeIndex(table, e); !ok {
		return f, fmt.Errorf("%w: %q needs one that begins with (%s), or every row of it would be read; create it", ErrNoIndex, table, strings.Join(e.Columns, ", "))
	}
	return f, nil
}

// dryOrder returns the root's node and all nodes whose rows a cascade from it may delete,
// each after all nodes above it. The plan has passed its check, so there is such an order.
func dryOrder(cat *schema.Catalog, plan schema.Plan, root string) ([]*dryNode, error) {
	all := map[string]*dryNode{}
	for _, n := range plan.Nodes() {
		all[n.Name] = &dryNode{Node: n, refs: []refSet{{columns: n.Key}}}
	}
	names := plan.Names()
	var order []*dryNode
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		for _, child := range names {
			for _, e := range all[child].Parents {
				if e.Table == name && e.OnDelete == schema.OnDeleteDelete {
					visit(child)
				}
			}
		}
		order = append(order, all[name])
	}
	visit(root)
	slices.Reverse(order)
	for _, n := range order {
		for _, name := range names {
			for _, e := range all[name].Parents {
				if e.Table == n.Name && e.OnDelete != schema.OnDeleteKeep {
					b, err := n.edge(cat, all[name], e)
					if err != nil {
						return nil, err
					}
					n.below = append(n.below, b)
				}
			}
		}
	}
	for _, n := range order {
		n.unread = n.Name != root && len(n.below) == 0 && n.Asset == "" && n.reached(seen) == 1
	}
	for _, n := range order {
		if err := n.prepare(cat, seen); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// edge makes the edge to a child. A column of text may refer to a key of another type,
// in its usual form: a polymorphic child holds the keys of several tables.
func (n *dryNode) edge(cat *schema.Catalog, child *dryNode, e schema.Edge) (dryEdge, error) {
	b := dryEdge{child: child, edge: e}
	for _, table := range child.Tables {
		f, err := newFinder(cat, table, e)
		if err != nil {
			return b, err
		}
		b.finds = append(b.finds, f)
	}
	for _, text := range []bool{false, true} {
		set := refSet{e.References, text}
		c, err := set.codec(cat, n.Tables[0])
		if err != nil {
			return b, err
		}
		if c.Fits(b.finds[0].columns) {
			b.ref = n.set(set)
			return b, nil
		}
	}
	return b, fmt.Errorf("%w: the columns (%s) of %q and (%s) of %q have types that do not compare", rowkey.ErrType,
		strings.Join(e.Columns, ", "), child.Tables[0], strings.Join(e.References, ", "), n.Tables[0])
}

// set is the place of what is referred to among the node's sets.
func (n *dryNode) set(want refSet) int {
	for i, have := range n.refs {
		if have.text == want.text && slices.EqualFunc(have.columns, want.columns, strings.EqualFold) {
			return i
		}
	}
	n.refs = append(n.refs, want)
	return len(n.refs) - 1
}

// reached is how many edges of the node may touch its rows.
func (n *dryNode) reached(seen map[string]bool) (edges int) {
	for _, e := range n.Parents {
		if seen[e.Table] && e.OnDelete != schema.OnDeleteKeep {
			edges++
		}
	}
	return edges
}

// prepare makes what the node's statements are made of.
func (n *dryNode) prepare(cat *schema.Catalog, seen map[string]bool) error {
	for _, table := range n.Tables {
		t := dryNodeTable{name: table}
		for _, set := range n.refs {
			c, err := set.codec(cat, table)
			if err != nil {
				return err
			}
			t.refs = append(t.refs, c)
		}
		n.tables = append(n.tables, t)
	}
	for i := range n.below {
		b := &n.below[i]
		b.keyed = seen[b.child.Name] || b.child.reached(seen) > 1
		if !seen[b.child.Name] && b.child.tables == nil { // only ever detached from
			if err := b.child.prepare(cat, seen); err != nil {
				return err
			}
		}
	}
	return nil
}
