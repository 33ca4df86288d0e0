package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/rowkey"
)

// dry is a dry run under way.
type dry struct {
	db               onerow.DB
	o                DryRunOptions
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
}

// dryTable is what is known of a table: how many rows, and which, where they are read.
type dryTable struct {
	count  int64
	capped bool
	keys   map[rowkey.Key]bool
}

// node is what is known of a node.
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
	case t.count >= int64(d.o.Limit):
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
			for _, s := range e.Sources {
				if err := d.look(ctx, s, " FROM "+s.From+s.Index+" WHERE "+s.When+s.Columns.In("", parents)); err != nil {
					return err
				}
				d.progress()
			}
		}
	}
	return nil
}

// look counts the rows that one statement finds, along the index of the edge, reading one more than the
// limit at most: the rows of one statement are different ones, so that many prove the cap.
func (d *dry) look(ctx context.Context, s *graph.Source, from string) error {
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
	child, scanner := d.node(s.Edge.Child), s.Scanner(nil, 0)
	query := fmt.Sprintf("SELECT %s%s LIMIT %d", s.Table.Columns(nil), from, d.o.Limit+1)
	return onerow.Query(ctx, d.db, query, nil, func(rows *sql.Rows) error {
		row, _, err := scanner.Scan(rows)
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
	query := fmt.Sprintf("SELECT COUNT(*) FROM (SELECT 1%s LIMIT %d) AS some_rows", from, int64(d.o.Limit)+1-known.count)
	if err := onerow.QueryRow(ctx, d.db, query, nil, &n); err != nil {
		return err
	}
	known.count += n
	if known.count > int64(d.o.Limit) {
		known.count, known.capped = int64(d.o.Limit), true
	}
	return nil
}
