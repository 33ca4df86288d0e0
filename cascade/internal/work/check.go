package work

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/rowkey"
)

// check asks, before locked parents are deleted, which of them still have children, and knows where that need
// not be asked. No parent goes whose children are neither checked nor proven to be gone.
type check struct {
	suspect map[*graph.Edge]bool // edges whose rows are read and tried one by one, not deleted unread
	metNone map[*graph.Edge]bool // edges below which the last statement has met no row
}

func newCheck() check { return check{map[*graph.Edge]bool{}, map[*graph.Edge]bool{}} }

// goUnread says whether the rows below an edge are deleted or detached without being read.
func (c check) goUnread(e *graph.Edge) bool { return (e.Leaf || e.Detach) && !c.suspect[e] }

// isSkipped says whether the check skips an edge as a rule: deleting or detaching what is below locked
// parents, without reaching the limit, proves that nothing is left there. So it is where that can be in one
// table alone. A row that moves between two tables could be missed.
func (c check) isSkipped(e *graph.Edge) bool { return c.goUnread(e) && len(e.Sources) == 1 }

// isProvenEmpty says whether the check may skip an edge now: the statement has met a row. MariaDB answers a
// DELETE of one table, and 11.8 an UPDATE, that KILL QUERY or max_statement_time has ended before its first
// row as if there were none; once it has met one it reports the error.
func (c check) isProvenEmpty(e *graph.Edge) bool { return c.isSkipped(e) && !c.metNone[e] }

// isNeeded says whether a statement below rows of a node has met none, so that it has proven nothing.
func (c check) isNeeded(n *graph.Node) bool {
	return slices.ContainsFunc(n.Edges, func(e *graph.Edge) bool { return c.metNone[e] })
}

// proveNothing has the next check of a node's rows ask about all edges.
func (c check) proveNothing(n *graph.Node) {
	for _, e := range n.Edges {
		c.metNone[e] = true
	}
}

// suspectRows has rows of a node read over all edges of the graph.
func (c check) suspectRows(g *graph.Graph, child *graph.Node) {
	for _, e := range g.Edges {
		if e.Child == child {
			c.suspect[e] = true
		}
	}
}

// childSQL reads one child of a parent row p, or none, by the index of the edge. A row is no child of itself.
// The optimizers do not turn a subquery with a LIMIT into a join.
func childSQL(s *graph.Source, parent *graph.Table, without []rowkey.Key) string {
	itself := ""
	if len(without) > 0 {
		itself = " AND NOT (" + s.Key.In("c", without) + ")"
	}
	if s.Edge.Self {
		itself += " AND NOT (" + s.Key.Equal("c", parent.Key, "p") + ")"
	}
	return "(SELECT 1 FROM " + s.From + " AS c" + s.Index + " WHERE " + s.Columns.Equal("c", s.Edge.Referred(parent), "p") + s.WhenC + itself + " LIMIT 1)"
}

// hasChildrenSQL asks all tables of all children, from one snapshot, which of the parents still have some. In
// its transaction no read without a lock comes before the locks on the parents, so the snapshot is newer than
// these, at REPEATABLE READ too: nobody can have added a child since, and a row that moves is in one of its
// tables. Which child belongs to which parent the database decides, by its collations. Children that are
// about to be deleted may be left out. It is empty where all edges are proven empty.
func (c check) hasChildrenSQL(t *graph.Table, parents []rowkey.Key, without map[*graph.Table][]rowkey.Key) string {
	var children []string
	for _, e := range t.Node.Edges {
		if c.isProvenEmpty(e) {
			continue
		}
		for _, s := range e.Sources {
			children = append(children, childSQL(s, t, without[s.Table])+" IS NOT NULL")
		}
	}
	if len(children) == 0 {
		return ""
	}
	return "SELECT " + t.Key.Select("p") + " FROM " + t.From + " AS p FORCE INDEX (PRIMARY) WHERE " + t.Key.In("p", parents) +
		" AND (" + strings.Join(children, " OR ") + ")"
}

// parentsWithChildren returns which of the locked parents still have children. One statement per list.
func (c check) parentsWithChildren(ctx context.Context, tx *onerow.Tx, t *graph.Table, parents []graph.Row) (map[rowkey.Key]bool, error) {
	having := map[rowkey.Key]bool{}
	for part := range slices.Chunk(graph.KeysOf(parents), listLength) {
		query := c.hasChildrenSQL(t, part, nil)
		if query == "" {
			return having, nil
		}
		keys, err := t.ReadKeys(ctx, tx, query, nil)
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			having[k] = true
		}
	}
	return having, nil
}

// ofBatch asks for all groups of a batch at once whether their rows have children outside of the batch, and
// says whether each group is to be checked by itself. Mostly no row has any, and the groups can go as they
// are, the children before their parents. Where leaves may move between two tables the answer would say
// nothing, so each group is checked. One statement per table.
func (c check) ofBatch(ctx context.Context, tx *onerow.Tx, l load, unchangedRows [][]graph.Row) (each bool, err error) {
	keys := map[*graph.Table][]rowkey.Key{}
	var tables []*graph.Table
	total := 0
	for i, g := range l.groups {
		if g.src.Edge.Detach || len(unchangedRows[i]) == 0 {
			continue
		}
		t := g.src.Table
		if keys[t] == nil {
			tables = append(tables, t)
		}
		keys[t] = append(keys[t], graph.KeysOf(unchangedRows[i])...)
		total += len(unchangedRows[i])
		for _, e := range t.Node.Edges {
			each = each || (e.Leaf || e.Detach) && !c.isSkipped(e)
		}
	}
	if l.checkEach || each || len(tables) == len(l.groups) || total > 2*listLength {
		return true, nil
	}
	for _, t := range tables {
		for part := range slices.Chunk(keys[t], listLength) {
			query := c.hasChildrenSQL(t, part, keys)
			if query == "" {
				continue
			}
			found := false
			err := onerow.Query(ctx, tx, query+" LIMIT 1", nil, func(*sql.Rows) error {
				found = true
				return nil
			})
			if err != nil || found {
				return true, err
			}
		}
	}
	return false, nil
}
