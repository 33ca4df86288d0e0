package work

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/rowkey"
)

// unread is what a run knows of the edges below which rows go unread.
type unread struct {
	suspect map[*graph.Edge]bool // whose rows are read and tried one by one
	none    map[*graph.Edge]bool // below which the last statement has met no row, see proved
}

func newUnread() unread { return unread{suspect: map[*graph.Edge]bool{}, none: map[*graph.Edge]bool{}} }

// suspect has rows of a node read over all edges.
func (r *run) suspect(child *graph.Node) {
	for _, e := range r.graph.Edges {
		if e.Child == child {
			r.unread.suspect[e] = true
		}
	}
}

// certain says whether deleting or detaching what is below locked parents unread, without
// reaching the limit, proves that nothing is left over the edge: there is one table for
// it to be in. A row that moves between two tables could be missed.
func (u unread) certain(e *graph.Edge) bool {
	return (e.Leaf || e.Detach) && !u.suspect[e] && len(e.Sources) == 1
}

// proved is certain, and the statement has met a row. MariaDB answers a DELETE of one table, and 11.8 an
// UPDATE, that KILL QUERY or max_statement_time has ended before its first row as if there were none; once it
// has met one it reports the error.
func (u unread) proved(e *graph.Edge) bool { return u.certain(e) && !u.none[e] }

// doubted says whether a statement below the group's rows has met none.
func (u unread) doubted(n *graph.Node) bool {
	return slices.ContainsFunc(n.Edges, func(e *graph.Edge) bool { return u.none[e] })
}

// childSQL is one child of a parent row p, or none, by the index of the edge. A row is no
// child of itself. The optimizers do not turn a subquery with a LIMIT into a join.
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

// aboveSQL asks all tables of all children, from one snapshot, which of the parents still
// have something below. In its transaction no read without a lock comes before the locks
// on the parents, so the snapshot is newer than these, at REPEATABLE READ too: nobody can
// have added a child since, and a row that moves is in one of its tables. Which child
// belongs to which parent the database decides, by its collations. Children that are
// about to be deleted may be left out.
func (u unread) aboveSQL(t *graph.Table, parents []rowkey.Key, without map[*graph.Table][]rowkey.Key) string {
	var children []string
	for _, e := range t.Node.Edges {
		if u.proved(e) {
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

// lookOutside asks for all groups of a batch at once whether anything is below their rows
// but rows of the batch. Mostly nothing is, and the groups can go as they are, the children
// before their parents. Else, and where a look at all says nothing because leaves may move
// between two tables, each group is looked at. One statement per table.
func (r *run) lookOutside(ctx context.Context, tx *onerow.Tx, l load, live [][]graph.Row) (exact bool, err error) {
	keys := map[*graph.Table][]rowkey.Key{}
	var tables []*graph.Table
	total := 0
	for i, g := range l.groups {
		if g.src.Edge.Detach || len(live[i]) == 0 {
			continue
		}
		t := g.src.Table
		if keys[t] == nil {
			tables = append(tables, t)
		}
		keys[t] = append(keys[t], graph.KeysOf(live[i])...)
		total += len(live[i])
		for _, e := range t.Node.Edges {
			exact = exact || !r.unread.certain(e) && (e.Leaf || e.Detach)
		}
	}
	if l.exact || exact || len(tables) == len(l.groups) || total > 2*listLength {
		return true, nil
	}
	for _, t := range tables {
		for part := range slices.Chunk(keys[t], listLength) {
			query := r.unread.aboveSQL(t, part, keys)
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

// heldRows returns which of the locked parents still have something below.
func (u unread) heldRows(ctx context.Context, tx *onerow.Tx, t *graph.Table, parents []graph.Row) (map[rowkey.Key]bool, error) {
	held := map[rowkey.Key]bool{}
	values := make([]sql.NullString, t.Key.Width())
	dest := make([]any, len(values))
	for i := range values {
		dest[i] = &values[i]
	}
	for part := range slices.Chunk(graph.KeysOf(parents), listLength) {
		query := u.aboveSQL(t, part, nil)
		if query == "" {
			return held, nil
		}
		err := onerow.Query(ctx, tx, query, nil, func(rows *sql.Rows) error {
			if err := rows.Scan(dest...); err != nil {
				return err
			}
			k, ok := t.Key.Key(values)
			if !ok {
				return graph.ErrNullKey
			}
			held[k] = true
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return held, nil
}

// belowRootSQL is aboveSQL for a root, whose row may be gone: its key is given. Each part, of a UNION,
// answers i.
func (r *run) belowRootSQL(root graph.Row, i int) (parts []string) {
	for _, e := range r.node.Edges {
		keys := e.Keys([]graph.Row{root})
		if r.unread.proved(e) || len(keys) == 0 {
			continue
		}
		for _, s := range e.Sources {
			itself := ""
			if e.Self {
				itself = " AND NOT (" + s.Key.In("", []rowkey.Key{root.Key}) + ")"
			}
			parts = append(parts, fmt.Sprintf("(SELECT %d FROM ", i)+s.From+s.Index+" WHERE "+s.When+s.Columns.In("", keys)+itself+" LIMIT 1)")
		}
	}
	return parts
}

// belowRoot says whether anything is below the locked root.
func (r *run) belowRoot(ctx context.Context, tx *onerow.Tx, root graph.Row) (bool, error) {
	parts := r.belowRootSQL(root, 1)
	if len(parts) == 0 {
		return false, nil
	}
	var one int
	err := onerow.QueryRow(ctx, tx, strings.Join(parts, " UNION ALL "), nil, &one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
