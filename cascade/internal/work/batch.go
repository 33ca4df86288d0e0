package work

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/trash"
	"github.com/onerow/onerow/internal/rowkey"
)

// eraser deletes in batches what is below the roots of one job, or of several small ones, and the roots. It
// keeps what batches have to know; a pass says what they delete.
type eraser struct {
	graph   *graph.Graph
	node    *graph.Node // of the roots
	roots   []root      // one, or those of a bundle
	bundled bool
	rootAt  map[rowkey.Key]int // by Target.Root

	goes     map[*graph.Node]bool // whose rows may be below a root, over edges that delete
	trash    *trash.Keeper        // nil: the plan keeps nothing
	check    check
	loopsMet map[*graph.Source]bool         // over which rows were met that are below themselves
	parked   map[string]map[rowkey.Key]bool // by table
	seen     map[rowRef]mark                // by the pass
	changes  int64                          // rows deleted, detached, cut or parked by this attempt
}

func newEraser(g *graph.Graph, targets []Target) *eraser {
	n := g.Nodes[targets[0].Resource]
	e := &eraser{graph: g, node: n, rootAt: map[rowkey.Key]int{}, goes: n.Reach(), check: newCheck(), loopsMet: map[*graph.Source]bool{},
		parked: map[string]map[rowkey.Key]bool{}}
	for i, t := range targets {
		e.roots, e.rootAt[t.Root] = append(e.roots, root{Target: t}), i
	}
	return e
}

type outcome struct {
	next   int      // groups that are done with
	full   bool     // the batch reached its limit below the next group, or the roots
	leaves int64    // rows that went unread
	done   bool     // all roots are deleted: the job is at its end
	stayed []rowRef // rows that have children
	held   bool     // so has a root
	gone   map[rowRef]bool
	cut    map[rowRef]bool // rows that were detached
}

// lockSQL locks rows by their primary key, if they still meet the edge's condition; this is the one place
// where a row lock decides: whoever adds a child holds a share lock on its parent, so it is before us, and
// we see the child, or after us, and finds no parent. On a cluster a plan has guards: there the child's
// transaction writes the parent's row and ours deletes it, after its last look for children, so one of the
// two is refused.
func lockSQL(s *graph.Source, keys []rowkey.Key) string {
	return "SELECT " + s.Table.Columns(&s.Columns) + " FROM " + s.From + " FORCE INDEX (PRIMARY) WHERE " + s.When + s.Key.In("", keys) + " FOR UPDATE"
}

// dropBatch is one batch: it deletes groups of rows, then the roots, and below these up to limit rows that go
// unread. All locks come first: at REPEATABLE READ the first read without a lock fixes what the batch
// sees, and that must be newer than every lock. Rows that still have children stay.
func (e *eraser) dropBatch(ctx context.Context, tx *onerow.Tx, l load, limit int, tallies []Tally) (out outcome, err error) {
	out.gone, out.cut = map[rowRef]bool{}, map[rowRef]bool{}
	locked := map[*graph.Source]map[rowkey.Key]graph.Row{}
	for _, g := range l.groups {
		if locked[g.src] == nil {
			if locked[g.src], err = lock(ctx, tx, g.src, l.groups); err != nil {
				return out, err
			}
		}
	}
	if l.roots {
		if err := e.lockRoots(ctx, tx); err != nil {
			return out, failed(err, nil, 0)
		}
	}
	unchangedRows := make([][]graph.Row, len(l.groups))
	for i, g := range l.groups {
		unchangedRows[i] = unchanged(locked[g.src], g.rows)
	}
	checkEach, err := e.check.ofBatch(ctx, tx, l, unchangedRows)
	if err != nil {
		return out, err
	}
	left := int64(limit)
	defer func() { out.leaves = int64(limit) - left }()
	for i, g := range l.groups {
		out.next = i
		if len(unchangedRows[i]) == 0 {
			continue
		}
		checked := checkEach || g.tangled || len(out.stayed) > 0
		if out.full, err = e.dropGroup(ctx, tx, g.src, unchangedRows[i], checked, &left, tallies[0], &out); out.full || err != nil {
			return out, failed(err, nil, i)
		}
	}
	out.next = len(l.groups)
	if l.roots {
		err = failed(e.dropRoots(ctx, tx, &left, tallies, &out), nil, len(l.groups))
	}
	return out, err
}

// listLength is how many keys a statement lists at most: the memory that the range
// optimizer of MySQL may use for a list is bounded.
const listLength = 500

// lock locks the rows of all groups of one source, and reads them as they are now.
func lock(ctx context.Context, tx *onerow.Tx, s *graph.Source, groups []group) (map[rowkey.Key]graph.Row, error) {
	var keys []rowkey.Key
	for _, g := range groups {
		if g.src == s {
			keys = append(keys, graph.KeysOf(g.rows)...)
		}
	}
	locked := make(map[rowkey.Key]graph.Row, len(keys))
	for part := range slices.Chunk(keys, listLength) {
		scanner := s.Scanner(&s.Columns, 0)
		err := onerow.Query(ctx, tx, lockSQL(s, part), nil, func(rows *sql.Rows) error {
			v, _, err := scanner.Scan(rows)
			locked[v.Key] = v
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if s.Edge.Detach {
		return locked, nil
	}
	return locked, lockGuards(ctx, tx, s.Table, slices.Collect(maps.Values(locked)))
}

// unchanged returns the locked rows that are still where and what they were: below the
// same parent, and naming the asset that was deleted.
func unchanged(locked map[rowkey.Key]graph.Row, seen []graph.Row) []graph.Row {
	same := make([]graph.Row, 0, len(seen))
	for _, was := range seen {
		if v, ok := locked[was.Key]; ok && v.Edge == was.Edge && v.Asset == was.Asset {
			same = append(same, v)
		}
	}
	return same
}

// maxRounds is how many rounds a batch makes over one chunk, where rows of a chunk may be below each other:
// each deletes those that have nothing below them any more. A foreign key from a table to
// itself is checked row by row, so no statement may delete a row and its child.
const maxRounds = 16

// dropGroup deletes, or detaches, the locked rows of a group, with their leaves, of which the batch may still
// have so many. If the rows are checked, those that still have children stay. If the limit is reached they
// all stay.
func (e *eraser) dropGroup(ctx context.Context, tx *onerow.Tx, s *graph.Source, rows []graph.Row, checked bool, left *int64, t Tally, out *outcome) (full bool, err error) {
	if s.Edge.Detach {
		return false, e.detachRows(ctx, tx, s, rows, t, out)
	}
	if full, err = e.dropUnread(ctx, tx, s.Node, rows, left, t); full || err != nil {
		return full, err
	}
	if !checked && !e.check.isNeeded(s.Node) {
		return false, e.deleteRows(ctx, tx, s, rows, t, out.gone)
	}
	for range maxRounds {
		having, err := e.check.parentsWithChildren(ctx, tx, s.Table, rows)
		if err != nil {
			return false, err
		}
		free, rest := rows, []graph.Row(nil)
		if len(having) > 0 {
			free = nil
			for _, v := range rows {
				if having[v.Key] {
					rest = append(rest, v)
				} else {
					free = append(free, v)
				}
			}
		}
		if err := e.cutSelf(ctx, tx, s.Table, free); err != nil {
			return false, err
		}
		if err := e.deleteRows(ctx, tx, s, free, t, out.gone); err != nil {
			return false, err
		}
		if rows = rest; len(free) == 0 || len(rest) == 0 || !s.Node.Self {
			break
		}
	}
	for _, v := range rows {
		out.stayed = append(out.stayed, rowRef{s.Node, v.Key})
	}
	return false, nil
}

// detachRows detaches locked rows, but for those that an earlier group of the batch has deleted.
func (e *eraser) detachRows(ctx context.Context, tx *onerow.Tx, s *graph.Source, locked []graph.Row, t Tally, out *outcome) error {
	var keys []rowkey.Key
	again := true // an earlier group has detached them all, perhaps from the same columns
	for _, v := range locked {
		row := rowRef{s.Node, v.Key}
		if out.gone[row] {
			continue
		}
		keys = append(keys, v.Key)
		again = again && out.cut[row]
		out.cut[row] = true
	}
	if len(keys) == 0 {
		return nil
	}
	n, err := e.detachKeys(ctx, tx, s, keys, t)
	if n == 0 && err == nil && !again { // they are locked, and are below something
		err = fault.ErrEndedUnsaid
	}
	return err
}

// deleteSQL deletes by the primary key. It names the table twice, as all do whose number of rows nobody
// checks: a DELETE of one table may be ended by the server without an error, see check.isProvenEmpty.
func deleteSQL(t *graph.Table, keys []rowkey.Key) string {
	return "DELETE t FROM " + t.From + " AS t FORCE INDEX (PRIMARY) WHERE " + t.Key.In("t", keys)
}

// deleteRows keeps and deletes locked rows, notes them as gone, and marks what moves with them.
func (e *eraser) deleteRows(ctx context.Context, tx *onerow.Tx, s *graph.Source, rows []graph.Row, c Tally, gone map[rowRef]bool) error {
	t := s.Table
	for _, v := range rows {
		gone[rowRef{t.Node, v.Key}] = true
	}
	for part := range slices.Chunk(rows, listLength) {
		kept, err := e.keepRows(ctx, tx, t, s.Edge, graph.KeysOf(part))
		if err != nil {
			return err
		}
		n, err := onerow.Affected(ctx, tx, deleteSQL(t, graph.KeysOf(part)))
		if err == nil && kept && n != int64(len(part)) {
			err = fault.ErrEndedUnsaid
		}
		if err != nil {
			return err
		}
		c.Deleted[t.Name] += n
	}
	return MarkOwners(ctx, tx, t, rows)
}
