package work

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// Small says whether jobs of the node may go together: what is special about one of them, an asset, a
// trash, a row that is below itself or may be detached before it goes, is not for a batch of many.
func Small(n *graph.Node) bool {
	kept := func(t *graph.Table) bool { return t.Trash != nil }
	goes := n.Reach()
	return n.Asset == "" && !n.Self && !n.Stays && !slices.ContainsFunc(n.Tables, kept) && !slices.ContainsFunc(n.Edges, func(e *graph.Edge) bool {
		return e.Detach && goes[e.Child] || slices.ContainsFunc(e.Sources, func(s *graph.Source) bool { return s.Trash != nil })
	})
}

// Bundle is the roots of several jobs of one resource, for a batch that ends all of them. What is special
// about a root is left to a batch of its own, see pass: one that has moved, that another deletion hides, or
// that none hides although it should.
type Bundle struct {
	*run
	targets []Target
	at      map[rowkey.Key]int
	seen    []place
	places  []place // as they are locked
	odd     []bool  // in two tables
	left    []bool  // to a batch of its own
}

// NewBundle looks where the roots are, in one statement: a row that moves is in one of the tables.
func NewBundle(ctx context.Context, db onerow.DB, n *graph.Node, targets []Target) (*Bundle, error) {
	b := &Bundle{run: &run{node: n, unread: newUnread()}, targets: targets, at: map[rowkey.Key]int{}, seen: make([]place, len(targets)), odd: make([]bool, len(targets))}
	keys := make([]rowkey.Key, len(targets))
	for i, t := range targets {
		keys[i], b.at[t.Root] = t.Root, i
		b.seen[i] = place{row: n.Gone(t.Root)}
	}
	var parts []string
	for i, t := range n.Tables {
		parts = append(parts, fmt.Sprintf("SELECT %d, %s FROM %s FORCE INDEX (PRIMARY) WHERE %s", i, t.Key.Select(""), t.From, t.Key.In("", keys)))
	}
	values := make([]sql.NullString, n.Tables[0].Key.Width())
	table := 0
	dest := []any{&table}
	for i := range values {
		dest = append(dest, &values[i])
	}
	return b, backoff.Read(ctx, func() error {
		return onerow.Query(ctx, db, strings.Join(parts, " UNION ALL "), nil, func(rows *sql.Rows) error {
			if err := rows.Scan(dest...); err != nil {
				return err
			}
			key, _ := n.Tables[table].Key.Key(values)
			i, ours := b.at[key]
			if !ours { // the database takes it for one of them, by its collation
				return errMoved
			}
			b.odd[i] = b.seen[i].found
			b.seen[i].found, b.seen[i].table = true, n.Tables[table]
			return nil
		})
	})
}

// Drop deletes each root below which there is nothing, or nothing but rows that go unread, with these rows,
// up to limit of them. It returns what it has deleted of each root, which are at their end, and whether it
// was the limit that kept others. It may be called again, in another transaction.
//
// All locks come first, as in lockAndDrop. Statements: one that locks roots, one that looks below them and
// one that deletes them for each of the node's tables. Where something is below: another look, and for each
// edge 2, 3 where there is more than the limit, or 1 for each root where rows are detached.
func (b *Bundle) Drop(ctx context.Context, tx *onerow.Tx, limit int64) (tallies []Tally, ended []bool, full bool, err error) {
	b.places, b.left = slices.Clone(b.seen), slices.Clone(b.odd)
	for _, t := range b.node.Tables {
		if err := b.lock(ctx, tx, t); err != nil {
			return nil, nil, false, err
		}
	}
	held, err := b.below(ctx, tx)
	if err != nil {
		return nil, nil, false, err
	}
	tallies, ended = make([]Tally, len(b.targets)), make([]bool, len(b.targets))
	for i := range tallies {
		tallies[i] = NewTally()
	}
	if len(held) > 0 {
		if full, err = b.dropBelowAll(ctx, tx, slices.Sorted(maps.Keys(held)), limit, tallies); err != nil {
			return nil, nil, false, err
		}
		if held, err = b.below(ctx, tx); err != nil {
			return nil, nil, false, err
		}
	}
	for i := range b.targets {
		b.left[i] = b.left[i] || held[i]
		ended[i] = !b.left[i]
	}
	return tallies, ended, full, b.deleteRoots(ctx, tx)
}

// lock locks the roots that were seen in a table.
func (b *Bundle) lock(ctx context.Context, tx *onerow.Tx, t *graph.Table) error {
	var keys []rowkey.Key
	for i, p := range b.seen {
		if p.table == t {
			keys = append(keys, b.targets[i].Root)
			b.left[i] = true // until it is found
		}
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys) // all batches in one order
	deletion := "NULL"
	if t.Node.Managed && !t.Active {
		deletion = schema.ColDeletionID
	}
	var found []graph.Row
	var id sql.NullInt64
	due := map[int]aged{}
	scanner := t.Scanner(nil, 2, &id)
	query := fmt.Sprintf("SELECT %s, %s, %s FROM %s FORCE INDEX (PRIMARY) WHERE %s FOR UPDATE", deletion, t.Columns(nil), agedColumns(t), t.From, t.Key.In("", keys))
	err := onerow.Query(ctx, tx, query, nil, func(rows *sql.Rows) error {
		v, more, err := scanner.Scan(rows)
		if err != nil {
			return err
		}
		i, ours := b.at[v.Key]
		if !ours {
			return errMoved
		}
		switch {
		case b.odd[i]:
		case id.Valid:
			b.left[i] = id.Int64 != b.targets[i].DeletionID
		case b.targets[i].Due:
			due[i] = aged{more[0], more[1]}
		default:
			b.left[i] = t.Node.Managed
		}
		b.places[i].row = v
		found = append(found, v)
		return nil
	})
	if err == nil {
		err = b.stillDue(ctx, tx, t, due)
	}
	if err != nil {
		return err
	}
	return lockGuards(ctx, tx, t, found)
}

// below says of which roots something is below, of those that are not left. Nothing is proved before. One
// statement for each table, and one for some roots that are gone.
func (b *Bundle) below(ctx context.Context, tx *onerow.Tx) (map[int]bool, error) {
	for _, e := range b.node.Edges {
		b.unread.none[e] = true
	}
	held := map[int]bool{}
	for _, t := range b.node.Tables {
		keys, err := b.unread.heldRows(ctx, tx, t, b.rowsIn(t))
		if err != nil {
			return nil, err
		}
		for key := range keys {
			held[b.at[key]] = true
		}
	}
	var parts []string
	for i, p := range b.places {
		if !p.found && !b.left[i] {
			parts = append(parts, b.belowRootSQL(p.row, i)...)
		}
	}
	for part := range slices.Chunk(parts, unionLength) {
		err := onerow.Query(ctx, tx, strings.Join(part, " UNION ALL "), nil, func(rows *sql.Rows) error {
			var i int
			err := rows.Scan(&i)
			held[i] = true
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return held, nil
}

// unionLength is how many parts a UNION has at most.
const unionLength = 50

// rowsIn are the roots that are in a table, but for those that are left.
func (b *Bundle) rowsIn(t *graph.Table) (rows []graph.Row) {
	for i, p := range b.places {
		if p.table == t && !b.left[i] {
			rows = append(rows, p.row)
		}
	}
	return rows
}

// deleteRoots deletes the locked roots, but for those that are left.
func (b *Bundle) deleteRoots(ctx context.Context, tx *onerow.Tx) error {
	for _, t := range b.node.Tables {
		rows := b.rowsIn(t)
		if len(rows) == 0 {
			continue
		}
		n, err := onerow.Affected(ctx, tx, deleteSQL(t, graph.KeysOf(rows)))
		if err == nil && n != int64(len(rows)) {
			err = fault.ErrEndedUnsaid
		}
		if err != nil {
			return err
		}
		if err := MarkOwners(ctx, tx, t, rows); err != nil {
			return err
		}
	}
	return nil
}
