package cascade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// graph is a plan with what the catalog says of its tables: all that the statements need.
// It is not changed once it is made.
type graph struct {
	fingerprint string
	nodes       map[string]*node
}

// node is a resource or a table of the plan.
type node struct {
	schema.Node
	tables []*table
	edges  []*edge // to what is below
	refs   []refs  // what the edges refer to, other than the key
	above  int     // how many edges delete its rows
	self   bool    // its rows may be below its own
	marks  bool    // deleting an active row moves the quota of an owner who stays
}

// refs is a set of columns that an edge refers to.
type refs struct {
	columns []string
	asText  bool
}

// table is one of a node's tables.
type table struct {
	name   string
	active bool
	node   *node
	from   string // quoted
	key    rowkey.Codec
	refs   []rowkey.Codec // as node.refs
	guards [][]guard      // as node.refs
	owner  rowkey.Codec
}

// edge leads from a node to the rows below it.
type edge struct {
	parent, child *node
	key           bool // it refers to the parent's key, else to refs[ref]
	ref           int
	detach        bool // the rows below are not deleted but detached
	self          bool
	leaf          bool // the rows below are deleted unread: nothing goes with them
	sources       []*source
}

// source is one of the child's tables, as it is seen over an edge.
type source struct {
	*table
	edge    *edge
	columns rowkey.Codec // of the edge
	when    string       // its condition, or empty; " AND " follows
	whenC   string       // the same behind the alias c; " AND " stands before
	index   string       // " FORCE INDEX (…)", or empty
	order   []position
	sorted  bool     // the index delivers the rows in that order, whatever the engine
	outside string   // a column that keeps the index from being read as a whole, or empty
	nulls   []string // the columns that become NULL when a row is detached, or a loop cut; quoted
}

// newGraph makes the graph of a plan that has passed its check.
func newGraph(plan schema.Plan, cat *schema.Catalog, indexes indexes) (*graph, error) {
	g := &graph{fingerprint: cat.Fingerprint(plan), nodes: map[string]*node{}}
	for _, n := range plan.Nodes() {
		made, err := newNode(n, cat)
		if err != nil {
			return nil, err
		}
		g.nodes[n.Name] = made
	}
	for _, n := range plan.Nodes() {
		child := g.nodes[n.Name]
		for _, declared := range n.Parents {
			if declared.OnDelete == schema.OnDeleteKeep {
				continue
			}
			if err := g.nodes[declared.Table].addEdge(child, declared, cat, indexes); err != nil {
				return nil, err
			}
		}
	}
	for _, n := range g.nodes {
		for _, e := range n.edges {
			e.leaf = !e.detach && len(e.child.edges) == 0 && e.child.Asset == "" && !e.child.marks
		}
	}
	return g, nil
}

func newNode(declared schema.Node, cat *schema.Catalog) (*node, error) {
	n := &node{Node: declared, marks: marks(declared)}
	for i, name := range declared.Tables {
		t := &table{name: name, active: i == 0, node: n, from: schema.Quote(name)}
		primary := cat.PrimaryKey(name)
		if !slices.EqualFunc(primary, declared.Key, strings.EqualFold) {
			return nil, fmt.Errorf("%w: the primary key of %q is (%s), the plan says (%s); see cascade-worker verify",
				schema.ErrInvalidPlan, name, strings.Join(primary, ", "), strings.Join(declared.Key, ", "))
		}
		var err error
		if t.key, err = rowkey.New(cat, name, declared.Key); err != nil {
			return nil, fmt.Errorf("cascade: the key of %q: %w", name, err)
		}
		if n.marks {
			if t.owner, err = rowkey.New(cat, name, []string{declared.Owner}); err != nil {
				return nil, fmt.Errorf("cascade: the owner of %q: %w", name, err)
			}
		}
		n.tables = append(n.tables, t)
	}
	return n, nil
}

// marks says whether an owner stays when rows go: unless the owner is the only row
// above, who goes as well.
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
func (n *node) addEdge(child *node, declared schema.Edge, cat *schema.Catalog, indexes indexes) error {
	e := &edge{parent: n, child: child, detach: declared.OnDelete == schema.OnDeleteDetach}
	e.self = n == child && !e.detach
	if !e.detach {
		child.above++
		child.self = child.self || e.self
	}
	above, err := rowkey.New(cat, n.tables[0].name, declared.References)
	if err != nil {
		return fmt.Errorf("cascade: what %q refers to: %w", child.Name, err)
	}
	for _, t := range child.tables {
		s := &source{table: t, edge: e}
		if s.columns, err = rowkey.New(cat, t.name, declared.Columns); err != nil {
			return fmt.Errorf("cascade: the edge from %q to %q: %w", child.Name, n.Name, err)
		}
		asText := false
		if !s.columns.Fits(above) {
			if asText = s.columns.Fits(above.AsText()); !asText {
				return fmt.Errorf("cascade: the edge from %q to %q: %w: the types of (%s) and of (%s) do not compare", child.Name, n.Name,
					rowkey.ErrType, strings.Join(declared.Columns, ", "), strings.Join(declared.References, ", "))
			}
		}
		if e.key, e.ref, err = n.refer(declared.References, asText, cat, indexes); err != nil {
			return err
		}
		if s.when, err = rowkey.Where(cat, t.name, "", declared.When); err != nil {
			return fmt.Errorf("cascade: the condition of the edge from %q to %q: %w", child.Name, n.Name, err)
		}
		if s.when != "" {
			if s.whenC, err = rowkey.Where(cat, t.name, "c", declared.When); err != nil {
				return err
			}
			s.when, s.whenC = s.when+" AND ", " AND "+s.whenC
		}
		for _, column := range child.DetachColumns(declared) {
			if info, ok := cat.Column(t.name, column); ok && info.Nullable {
				s.nulls = append(s.nulls, ident.Quote(column)+" = NULL")
			}
		}
		if e.detach && len(s.nulls) == 0 {
			return fmt.Errorf("%w: rows of %q cannot be detached from %q: none of (%s) may be NULL", schema.ErrInvalidPlan, t.name, n.Name, strings.Join(declared.Columns, ", "))
		}
		if err := s.walkBy(declared, cat, indexes); err != nil {
			return err
		}
		e.sources = append(e.sources, s)
	}
	n.edges = append(n.edges, e)
	return nil
}

// refer finds or makes the columns that an edge refers to among those that are read of a
// node's rows.
func (n *node) refer(columns []string, asText bool, cat *schema.Catalog, indexes indexes) (key bool, ref int, err error) {
	if !asText && slices.EqualFunc(columns, n.Key, strings.EqualFold) {
		return true, 0, nil
	}
	for i, have := range n.refs {
		if have.asText == asText && slices.EqualFunc(columns, have.columns, strings.EqualFold) {
			return false, i, nil
		}
	}
	n.refs = append(n.refs, refs{columns, asText})
	for _, t := range n.tables {
		c, err := rowkey.New(cat, t.name, columns)
		if err != nil {
			return false, 0, fmt.Errorf("cascade: what is referred to: %w", err)
		}
		if asText {
			c = c.AsText()
		}
		t.refs, t.guards = append(t.refs, c), append(t.guards, t.guard(columns, asText, cat, indexes))
	}
	return false, len(n.refs) - 1, nil
}

// referred is the columns of a parent's table that the edge refers to.
func (e *edge) referred(t *table) rowkey.Codec {
	if e.key {
		return t.key
	}
	return t.refs[e.ref]
}

// keys are what the edge's columns hold in the rows below the parents. A parent in
// which a part of it is NULL has nothing below it.
func (e *edge) keys(parents []row) []rowkey.Key {
	keys := make([]rowkey.Key, 0, len(parents))
	for _, p := range parents {
		k := p.key
		if !e.key {
			if e.ref >= len(p.refs) {
				continue
			}
			k = p.refs[e.ref]
		}
		if k != "" {
			keys = append(keys, k)
		}
	}
	return keys
}

// cuttable says whether a loop of rows can be cut at the edge.
func (e *edge) cuttable() bool {
	return !slices.ContainsFunc(e.sources, func(s *source) bool { return len(s.nulls) == 0 })
}
