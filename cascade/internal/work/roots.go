package work

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
)

// root is the root of a job: where it is, and what becomes of it.
type root struct {
	Target
	expected     place // where it was seen
	locked       place // as the batch has locked it
	inBothTables bool  // two rows have its id
	keepForLater bool  // it stays in this batch: it has moved, may not go, or has children
	age          *age  // in a bundle, of a row that the plan's retention has found
}

// place is where a root row is: in a table, or in none. Its key is always set.
type place struct {
	found    bool
	deletion sql.NullInt64 // that hides the row
	table    *graph.Table
	row      graph.Row
}

// isOthers says whether another deletion than the job's hides the row.
func (r *root) isOthers(at place) bool {
	return at.deletion.Valid && at.deletion.Int64 != r.DeletionID
}

// rootOf is the root that a row is. With a bundle it may be none: the database compares by collations.
func (e *eraser) rootOf(key rowkey.Key) (i int, err error) {
	if !e.bundled {
		return 0, nil
	}
	i, known := e.rootAt[key]
	if !known {
		return 0, errMoved
	}
	return i, nil
}

// rootsSQL reads roots in a table by the primary key, what is selected first and then their columns.
func rootsSQL(t *graph.Table, first string, keys []rowkey.Key) string {
	deletion := "NULL"
	if t.Node.Managed && !t.Active {
		deletion = ident.ColDeletionID
	}
	return "SELECT " + first + ", " + deletion + ", " + t.Columns(nil) + " FROM " + t.From + " FORCE INDEX (PRIMARY) WHERE " + t.Key.In("", keys)
}

// findRoots looks for the roots in both tables, in one statement: a row that moves is in one of them. A root
// that is in none is gone for good: only its key is known, see graph.Node.Gone. Nothing is locked.
func (e *eraser) findRoots(ctx context.Context, db onerow.DB) error {
	keys := make([]rowkey.Key, len(e.roots))
	for i := range e.roots {
		r := &e.roots[i]
		keys[i], r.expected, r.inBothTables = r.Root, place{row: e.node.Gone(r.Root)}, false
	}
	parts := make([]string, len(e.node.Tables))
	for i, t := range e.node.Tables {
		parts[i] = rootsSQL(t, fmt.Sprint(i), keys)
	}
	var table int
	var deletion sql.NullInt64
	scanner := e.node.Tables[0].Scanner(nil, 0, &table, &deletion)
	return onerow.Query(ctx, db, strings.Join(parts, " UNION ALL "), nil, func(rows *sql.Rows) error {
		v, _, err := scanner.Scan(rows)
		if err != nil {
			return err
		}
		i, err := e.rootOf(v.Key)
		if err != nil {
			return err
		}
		r := &e.roots[i]
		r.inBothTables = r.expected.found
		r.expected = place{true, deletion, e.node.Tables[table], v}
		return nil
	})
}

// lockRoots locks the roots where they were seen, and what foreign keys lock of them. One that has moved,
// names another asset since, or is parked stays. So do those of a bundle that take a job of their own to say
// why they are refused, see pass.findRoot. One statement per table and those of lockGuards; 1 more where the
// plan's retention has found some.
func (e *eraser) lockRoots(ctx context.Context, tx *onerow.Tx) error {
	for i := range e.roots {
		r := &e.roots[i]
		r.locked, r.keepForLater, r.age = r.expected, r.expected.found, nil
	}
	for _, t := range e.node.Tables {
		if err := e.lockRootsIn(ctx, tx, t); err != nil {
			return err
		}
	}
	return e.keepUndue(ctx, tx)
}

func (e *eraser) lockRootsIn(ctx context.Context, tx *onerow.Tx, t *graph.Table) error {
	var keys []rowkey.Key
	aged := false
	for i := range e.roots {
		if r := &e.roots[i]; r.expected.table == t {
			keys = append(keys, r.Root)
			aged = aged || r.Due
		}
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys) // all batches in one order
	var locked []graph.Row
	var began, made sql.NullString
	var deletion sql.NullInt64
	scanner := t.Scanner(nil, 0, &began, &made, &deletion)
	err := onerow.Query(ctx, tx, rootsSQL(t, ageColumns(t, aged), keys)+" FOR UPDATE", nil, func(rows *sql.Rows) error {
		v, _, err := scanner.Scan(rows)
		if err != nil {
			return err
		}
		i, err := e.rootOf(v.Key)
		if err != nil {
			return err
		}
		r := &e.roots[i]
		r.locked = place{true, deletion, t, v}
		locked = append(locked, v)
		switch {
		case r.isOthers(r.locked) && !e.bundled:
			return e.refuseHidden(r, r.locked)
		case r.isOthers(r.locked) || v.Asset != r.expected.row.Asset || e.parked[t.Name][v.Key]:
		case t.Node.Managed && !deletion.Valid && !r.Due && e.bundled:
		default:
			r.keepForLater = r.inBothTables
			if r.Due && !r.inBothTables {
				r.age = &age{began, made}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return lockGuards(ctx, tx, t, locked)
}

// dropRoots is the end of the last batch: it deletes what goes unread below the locked roots, up to the
// limit, and then those that have no other children. A pass has walked below the root, so what goes
// unread goes first. Of a bundle's roots most have nothing below them, so that is asked first.
func (e *eraser) dropRoots(ctx context.Context, tx *onerow.Tx, left *int64, tallies []Tally, out *outcome) error {
	if !e.bundled {
		if e.roots[0].keepForLater {
			return nil
		}
		full, err := e.dropUnread(ctx, tx, e.node, []graph.Row{e.roots[0].locked.row}, left, tallies[0])
		if out.full = full; full || err != nil {
			return err
		}
	} else {
		e.check.proveNothing(e.node)
		having, err := e.rootsWithChildren(ctx, tx)
		if err != nil {
			return err
		}
		if len(having) == 0 {
			return e.deleteRoots(ctx, tx, out)
		}
		if out.full, err = e.dropBelowRoots(ctx, tx, slices.Sorted(maps.Keys(having)), *left, tallies); err != nil {
			return err
		}
	}
	having, err := e.rootsWithChildren(ctx, tx)
	if err != nil {
		return err
	}
	for i := range having {
		e.roots[i].keepForLater, out.held = true, true
	}
	return e.deleteRoots(ctx, tx, out)
}

// rootsWithChildren is check.parentsWithChildren for the roots that do not stay, whose rows may be gone. That
// of a job of its own is asked for by its key: a trigger of a row below may have taken its row in this batch.
// One statement per table, and one for some roots that are gone; one for a job's own.
func (e *eraser) rootsWithChildren(ctx context.Context, tx *onerow.Tx) (map[int]bool, error) {
	having := map[int]bool{}
	tables := e.node.Tables
	if !e.bundled {
		tables = nil
	}
	for _, t := range tables {
		keys, err := e.check.parentsWithChildren(ctx, tx, t, e.goingRoots(t))
		if err != nil {
			return nil, err
		}
		for key := range keys {
			i, err := e.rootOf(key)
			if err != nil {
				return nil, err
			}
			having[i] = true
		}
	}
	var parts []string
	for i, r := range e.roots {
		if (!e.bundled || !r.locked.found) && !r.keepForLater {
			parts = append(parts, e.belowGoneSQL(i)...)
		}
	}
	for part := range slices.Chunk(parts, unionLength) {
		err := onerow.Query(ctx, tx, strings.Join(part, " UNION ALL "), nil, func(rows *sql.Rows) error {
			var i int
			err := rows.Scan(&i)
			having[i] = true
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return having, nil
}

// unionLength is how many parts a UNION has at most.
const unionLength = 50

// belowGoneSQL is check.hasChildrenSQL for a root whose row may be gone: its key is given. Each part, of a
// UNION, answers the root's number.
func (e *eraser) belowGoneSQL(i int) (parts []string) {
	gone := e.roots[i].locked.row
	for _, edge := range e.node.Edges {
		keys := edge.Keys([]graph.Row{gone})
		if e.check.isProvenEmpty(edge) || len(keys) == 0 {
			continue
		}
		for _, s := range edge.Sources {
			itself := ""
			if edge.Self {
				itself = " AND NOT (" + s.Key.In("", []rowkey.Key{gone.Key}) + ")"
			}
			parts = append(parts, fmt.Sprintf("(SELECT %d FROM ", i)+s.From+s.Index+" WHERE "+s.When+s.Columns.In("", keys)+itself+" LIMIT 1)")
		}
	}
	return parts
}

// goingRoots are the locked roots in a table that do not stay.
func (e *eraser) goingRoots(t *graph.Table) (rows []graph.Row) {
	for _, r := range e.roots {
		if r.locked.table == t && !r.keepForLater {
			rows = append(rows, r.locked.row)
		}
	}
	return rows
}

// deleteRoots keeps and deletes the locked roots that do not stay, whose jobs are at their end then.
func (e *eraser) deleteRoots(ctx context.Context, tx *onerow.Tx, out *outcome) error {
	for _, t := range e.node.Tables {
		rows := e.goingRoots(t)
		if len(rows) == 0 {
			continue
		}
		if err := e.cutSelf(ctx, tx, t, rows); err != nil {
			return err
		}
		kept, err := e.keepRows(ctx, tx, t, nil, graph.KeysOf(rows))
		if err != nil {
			return err
		}
		n, err := onerow.Affected(ctx, tx, deleteSQL(t, graph.KeysOf(rows)))
		if err == nil && (kept || e.bundled) && n != int64(len(rows)) {
			err = fault.ErrEndedUnsaid
		}
		if err != nil {
			return err
		}
		if err := MarkOwners(ctx, tx, t, rows); err != nil {
			return err
		}
	}
	out.done = true
	for _, r := range e.roots {
		out.done = out.done && !r.keepForLater
	}
	return nil
}
