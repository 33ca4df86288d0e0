package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// Edge leads from a node to the rows below it.
type Edge struct {
	Parent, Child *Node
	Declared      schema.Edge
	key           bool // it refers to the parent's key, else to refs[ref]
	ref           int
	Detach        bool // the rows below are not deleted but detached, or marked
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
	AsText  bool         // the edge's columns are text that holds keys of another type
	Bound   bool         // a foreign key says that the row above is there
	Held    bool         // and every server makes sure of it
	Index   string       // " FORCE INDEX (…)", or empty
	Narrow  string       // the same for statements that read nothing but what the index has, see narrow
	Scan    *Scan        // of all of that index; nil where it lacks columns of the condition
	order   rowkey.Codec // that of the rows along it
	Sorted  bool         // the index delivers the rows in that order, whatever the engine
	Outside string       // a column that keeps the index from being read as a whole, or empty
	Nulls   []string     // the columns that become NULL when a row is detached, or a loop cut; or the one that is marked
	Now     string       // what marks a row; empty: the edge marks none
	Left    string       // " AND " and the condition that a locked row is not detached yet: an earlier group may have done it
}

// addEdge makes the edge from n to a child that has declared it.
func (n *Node) addEdge(child *Node, declared schema.Edge, cat *catalog.Catalog, indexes indexes) (*Edge, error) {
	e := &Edge{Parent: n, Child: child, Declared: declared, Detach: declared.OnDelete.Detaches()}
	e.Self = n == child && !e.Detach
	if !e.Detach {
		child.Above++
		if !cat.Unique(n.Tables[0].Name, declared.References) {
			child.Above++ // a row may be below several by this edge alone
		}
		child.Self = child.Self || e.Self
	}
	above, err := rowkey.New(cat, n.Tables[0].Name, declared.References)
	if err != nil {
		return nil, fmt.Errorf("cascade: what %q refers to: %w", child.Name, err)
	}
	for _, t := range child.Tables {
		s, err := e.newSource(t, above, cat, indexes)
		if err != nil {
			return nil, err
		}
		e.Sources = append(e.Sources, s)
	}
	n.Edges = append(n.Edges, e)
	return e, nil
}

// newSource is a table of the child, as it is seen over the edge to the columns above.
func (e *Edge) newSource(t *Table, above rowkey.Codec, cat *catalog.Catalog, indexes indexes) (_ *Source, err error) {
	n, declared := e.Parent, e.Declared
	s := &Source{Table: t, Edge: e}
	s.Bound = len(n.Tables) == 1 && len(declared.When) == 0 && cat.ForeignKey(t.Name, declared.Columns, n.Tables[0].Name)
	// MySQL 9.7 takes a row by a foreign key from a table to itself that shares a column with what it refers
	// to, though the row above is not there.
	sharesOwn := e.Parent == e.Child && overlap(declared.Columns, declared.References)
	s.Held = s.Bound && !sharesOwn && !indexes.widened(cat, t.Name, declared.Columns)
	if s.Columns, err = rowkey.New(cat, t.Name, declared.Columns); err != nil {
		return nil, fmt.Errorf("cascade: the edge from %q to %q: %w", t.Node.Name, n.Name, err)
	}
	if !s.Columns.Fits(above) {
		if s.AsText = s.Columns.Fits(above.AsText()); !s.AsText {
			return nil, fmt.Errorf("cascade: the edge from %q to %q: %w: the types of (%s) and of (%s) do not compare", t.Node.Name, n.Name,
				rowkey.ErrType, strings.Join(declared.Columns, ", "), strings.Join(declared.References, ", "))
		}
	}
	if e.key, e.ref, err = n.refer(declared.References, s.AsText, cat, indexes); err != nil {
		return nil, err
	}
	if s.When, err = rowkey.Where(cat, t.Name, "", declared.When); err != nil {
		return nil, fmt.Errorf("cascade: the condition of the edge from %q to %q: %w", t.Node.Name, n.Name, err)
	}
	if s.When != "" {
		if s.WhenC, err = rowkey.Where(cat, t.Name, "c", declared.When); err != nil {
			return nil, err
		}
		s.When, s.WhenC = s.When+" AND ", " AND "+s.WhenC
	}
	if err := s.marks(cat); err != nil {
		return nil, err
	}
	for _, column := range t.Node.DetachColumns(declared) {
		if info, ok := cat.Column(t.Name, column); ok && info.Nullable {
			s.Nulls = append(s.Nulls, info.Name)
		}
	}
	if e.Detach && len(s.Nulls) == 0 {
		return nil, fmt.Errorf("%w: rows of %q cannot be detached from %q: none of (%s) may be NULL", schema.ErrInvalidPlan, t.Name, n.Name, strings.Join(declared.Columns, ", "))
	}
	if e.Detach && s.Left == "" {
		s.Left = " AND " + ident.Quote(s.Nulls[0]) + " IS NOT NULL"
	}
	return s, s.walkBy(declared, cat, indexes)
}

// refer finds or makes the columns that an edge refers to among those that are read of a node's rows.
func (n *Node) refer(columns []string, asText bool, cat *catalog.Catalog, indexes indexes) (key bool, ref int, err error) {
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

// Soft says whether it is the application alone that sees to it that the row above is there, and whether that
// can be asked by an index. Ids of other types that are held as text cannot.
func (s *Source) Soft() bool { return !s.Held && !s.AsText }

// Refers is the condition that a row, under the alias c, refers to a row over the edge.
func (s *Source) Refers() string {
	text := "1 = 1" + s.WhenC
	for _, column := range s.Columns.Names() {
		text += " AND c." + ident.Quote(column) + " IS NOT NULL"
	}
	return text
}

// lost is the condition that such a row is not there, in none of its tables, by the index of what is
// referred to.
func (s *Source) lost() string {
	text := "(" + s.Refers()
	for _, t := range s.Edge.Parent.Tables {
		text += " AND NOT EXISTS (SELECT 1 FROM " + t.From + " AS p WHERE " + s.Edge.Referred(t).Equal("p", s.Columns, "c") + ")"
	}
	return text + ")"
}

// maxBits is how many edges a trash table tells apart; further ones are as the last.
const maxBits = 7

// LostSQL is over which edges a row, under the alias c, refers to what is not there: a sum of bits below 0,
// or 0. Over via, an edge or nil, that is known. Before, a 1 was noted for any of them.
func (t *Trash) LostSQL(via *Edge, viaLost bool) string {
	conditions := map[int][]string{}
	for e, condition := range t.lost {
		if e != via {
			conditions[t.bits[e]] = append(conditions[t.bits[e]], condition)
		}
	}
	if viaLost {
		conditions[t.bits[via]] = []string{"1 = 1"}
	}
	text := "0"
	for _, bit := range slices.Sorted(maps.Keys(conditions)) {
		text += fmt.Sprintf(" - IF(%s, %d, 0)", strings.Join(conditions[bit], " OR "), bit)
	}
	return text
}

// WasLost is the condition that the row in the trash, under the alias c, referred over the edge to what was
// not there when it was deleted.
func (s *Source) WasLost() string {
	column := "c." + ident.Quote(ident.ColTrashLost)
	return fmt.Sprintf("(%s = 1 OR %s < 0 AND MOD(-%s DIV %d, 2) = 1)", column, column, column, s.Trash.bits[s.Edge])
}
