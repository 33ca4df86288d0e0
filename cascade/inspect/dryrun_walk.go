package inspect

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/rowkey"
)

type dry struct {
	db               onerow.DB
	limit            int64 // rows of a table that are counted
	onProgress       func(Estimate)
	order            []*dryNode // the root's and all whose rows may go, each after all that are above it
	nodes            map[*graph.Node]*dryNode
	rootFound        bool
	tables, detached map[string]*dryTable
	assets           int64
}

// dryNode is a node of the graph that a cascade from the root may touch.
type dryNode struct {
	*graph.Node
	goes    bool        // its rows may be deleted
	touched int         // how many edges lead to it
	rows    []graph.Row // known and not expanded yet
	// below are the rows below each row of the node itself, over edges that cannot be cut.
	below map[rowkey.Key][]dryBelow
}

// dryBelow is a row that was found over an edge.
type dryBelow struct {
	key rowkey.Key
	src *graph.Source
}

// dryTable is what is known of a table: how many rows, and which, where they are read.
type dryTable struct {
	count  int64
	capped bool
	keys   map[rowkey.Key]bool
}

func (d *dry) node(n *graph.Node) *dryNode {
	if d.nodes[n] == nil {
		d.nodes[n] = &dryNode{Node: n}
	}
	return d.nodes[n]
}

// plan finds the order. The plan has passed its check, so there is one.
func (d *dry) plan(root *graph.Node) error {
	var visit func(n *graph.Node)
	visit = func(n *graph.Node) {
		if d.node(n).goes {
			return
		}
		d.node(n).goes = true
		for _, e := range n.Edges {
			if !e.Detach {
				visit(e.Child)
			}
		}
		d.order = append(d.order, d.node(n))
	}
	visit(root)
	slices.Reverse(d.order)
	for _, n := range d.order {
		for _, e := range n.Edges {
			d.node(e.Child).touched++
			for _, s := range e.Sources {
				if s.Index == "" {
					return noIndex(s)
				}
			}
		}
	}
	return nil
}

// unread says whether the rows below an edge are counted and not read: none of them is met over another
// edge, or deleted and detached, and nothing goes with them.
func (d *dry) unread(e *graph.Edge) bool {
	child := d.node(e.Child)
	if e.Detach {
		return !child.goes && child.touched == 1
	}
	return child.touched == 1 && len(child.Edges) == 0 && child.Asset == ""
}

func table(of map[string]*dryTable, name string) *dryTable {
	if of[name] == nil {
		of[name] = &dryTable{keys: map[rowkey.Key]bool{}}
	}
	return of[name]
}

// add counts a row that was read, and says whether it was not known.
func (d *dry) add(t *dryTable, key rowkey.Key) (added bool) {
	switch {
	case t.keys[key]:
		return false
	case t.count >= d.limit:
		t.capped = true
		return false
	}
	t.keys[key] = true
	t.count++
	return true
}

// root reads the root's row, by its primary key from both tables in one statement.
func (d *dry) root(ctx context.Context, encodedID string) error {
	n := d.order[0]
	key, err := n.Tables[0].Key.Decode(encodedID)
	if err != nil {
		return err
	}
	parts := make([]string, len(n.Tables))
	for i, t := range n.Tables {
		parts[i] = fmt.Sprintf("SELECT %d, %s FROM %s WHERE %s", i, t.Columns(nil), t.From, t.Key.In("", []rowkey.Key{key}))
	}
	var where int
	scanner := n.Tables[0].Scanner(nil, 0, &where)
	err = onerow.Query(ctx, d.db, strings.Join(parts, " UNION ALL "), nil, func(rows *sql.Rows) error {
		row, _, err := scanner.Scan(rows)
		if err == nil && !d.rootFound {
			d.rootFound, n.rows = true, []graph.Row{row}
			d.add(table(d.tables, n.Tables[where].Name), row.Key)
			d.asset(row)
		}
		return err
	})
	if !d.rootFound {
		n.rows = []graph.Row{n.Gone(key)}
	}
	d.progress()
	return err
}

func (d *dry) asset(row graph.Row) {
	if row.Asset != "" {
		d.assets++
	}
}

// expand looks for all rows below the node's rows. These are complete but for the
// rows below rows of the node itself, which are found here and expanded in turn.
func (d *dry) expand(ctx context.Context, n *dryNode) error {
	for len(n.rows) > 0 {
		chunk := n.rows[:min(dryRunParents, len(n.rows))]
		n.rows = n.rows[len(chunk):]
		for _, e := range n.Edges {
			parents := e.Keys(chunk)
			if len(parents) == 0 {
				continue
			}
			above := aboveThemselves(e, chunk)
			for _, s := range e.Sources {
				if err := d.look(ctx, s, above, " FROM "+s.From+s.Narrow+" WHERE "+s.When+s.Columns.In("", parents)); err != nil {
					return err
				}
				d.progress()
			}
		}
	}
	return nil
}

// aboveThemselves are rows by what those below refer to, over an edge from a table to itself that cannot be
// cut; nil over others.
func aboveThemselves(e *graph.Edge, parents []graph.Row) map[rowkey.Key]rowkey.Key {
	if !e.Self || e.Cuttable() {
		return nil
	}
	above := make(map[rowkey.Key]rowkey.Key, len(parents))
	for _, p := range parents {
		for _, k := range e.Keys([]graph.Row{p}) {
			above[k] = p.Key
		}
	}
	return above
}

// look counts the rows that one statement finds, along the index of the edge, reading one more than the
// limit at most: the rows of one statement are different ones, so that many prove the cap.
func (d *dry) look(ctx context.Context, s *graph.Source, above map[rowkey.Key]rowkey.Key, from string) error {
	of := d.tables
	if s.Edge.Detach {
		of = d.detached
	}
	known := table(of, s.Name)
	switch {
	case known.capped:
		return nil
	case d.unread(s.Edge):
		return d.count(ctx, known, from)
	}
	var edge *rowkey.Codec
	if above != nil {
		edge = &s.Columns
	}
	child, scanner := d.node(s.Edge.Child), s.Scanner(edge, 0)
	query := fmt.Sprintf("SELECT %s%s%s LIMIT %d", graph.Dive, s.Table.Columns(edge), from, d.limit+1)
	return onerow.Query(ctx, d.db, query, nil, func(rows *sql.Rows) error {
		row, _, err := scanner.Scan(rows)
		if parent, ok := above[row.Edge]; ok && err == nil && (parent != row.Key || s.Bound) {
			if child.below == nil {
				child.below = map[rowkey.Key][]dryBelow{}
			}
			child.below[parent] = append(child.below[parent], dryBelow{row.Key, s})
		}
		if err != nil || !d.add(known, row.Key) || s.Edge.Detach {
			return err
		}
		d.asset(row)
		if len(child.Edges) > 0 {
			child.rows = append(child.rows, row)
		}
		return nil
	})
}

// count counts entries of the index up to what is left of the limit.
func (d *dry) count(ctx context.Context, known *dryTable, from string) error {
	var n int64
	query := fmt.Sprintf("SELECT %sCOUNT(*) FROM (SELECT 1%s LIMIT %d) AS some_rows", graph.Dive, from, d.limit+1-known.count)
	if err := onerow.QueryRow(ctx, d.db, query, nil, &n); err != nil {
		return err
	}
	known.count += n
	if known.count > d.limit {
		known.count, known.capped = d.limit, true
	}
	return nil
}

// loops looks for rows that are below themselves: what is left when rows with nothing below them are taken
// away, again and again, as the worker does, is in a loop or above one.
func (d *dry) loops() (found []Loop, err error) {
	for _, n := range d.order {
		held, above := map[rowkey.Key]int{}, map[rowkey.Key][]rowkey.Key{}
		for parent, children := range n.below {
			held[parent] = len(children)
			for _, c := range children {
				above[c.key] = append(above[c.key], parent)
			}
		}
		var free []rowkey.Key
		for key := range above {
			if held[key] == 0 {
				free = append(free, key)
			}
		}
		for len(free) > 0 {
			key := free[0]
			free = free[1:]
			for _, parent := range above[key] {
				if held[parent]--; held[parent] == 0 {
					free = append(free, parent)
				}
			}
		}
		maps.DeleteFunc(held, func(_ rowkey.Key, rows int) bool { return rows == 0 })
		if len(held) == 0 {
			continue
		}
		at, seen := dryBelow{key: slices.Min(slices.Collect(maps.Keys(held)))}, map[rowkey.Key]bool{}
		for !seen[at.key] {
			seen[at.key] = true
			at = n.below[at.key][slices.IndexFunc(n.below[at.key], func(c dryBelow) bool { return held[c.key] > 0 })]
		}
		l := Loop{Table: at.src.Name, Columns: at.src.Columns.Names()}
		if l.Key, err = at.src.Key.Encode(at.key); err != nil {
			return nil, err
		}
		l.Why = fmt.Sprintf("the job will fail: row %s of %s is below itself, by (%s), of which nothing may be NULL; change a row of the loop by hand first",
			l.Key, l.Table, strings.Join(l.Columns, ", "))
		found = append(found, l)
	}
	return found, nil
}
