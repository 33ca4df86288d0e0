package work

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/rowkey"
)

// outcome is what came of lockAndDrop.
type outcome struct {
	next   int   // groups that are done with
	full   bool  // there were too many leaves below the next group, or the root
	leaves int64 // rows that went unread
	done   bool  // the job is at its end
	stayed []who // rows that something else is below
	gone   map[who]bool
	cut    map[who]bool // rows that were detached
}

// lockSQL locks rows by their primary key, if they still meet the edge's condition; this is the one place
// where a row lock decides: whoever adds a child holds a share lock on its parent, so it is before us, and
// we see the child, or after us, and finds no parent. On a cluster a plan has guards: there the child's
// transaction writes the parent's row and ours deletes it, behind its last look for children, so one of the
// two is refused.
func lockSQL(s *graph.Source, keys []rowkey.Key) string {
	return "SELECT " + s.Table.Columns(&s.Columns) + " FROM " + s.From + " FORCE INDEX (PRIMARY) WHERE " + s.When + s.Key.In("", keys) + " FOR UPDATE"
}

// lockAndDrop is one batch of drop. All locks come first: at REPEATABLE READ the first read
// without a lock fixes what the batch sees, and that must be newer than every lock. Rows
// that still have something below stay.
func (p *pass) lockAndDrop(ctx context.Context, tx *onerow.Tx, l load, t Tally) (out outcome, err error) {
	out.gone, out.cut = map[who]bool{}, map[who]bool{}
	locked := map[*graph.Source]map[rowkey.Key]graph.Row{}
	for _, s := range sourcesOf(l.groups) {
		if locked[s], err = lock(ctx, tx, s, l.groups); err != nil {
			return out, err
		}
	}
	here := place{}
	if l.root && p.place.found {
		if here, err = p.lockRoot(ctx, tx); err != nil {
			return out, failed(err, nil, 0)
		}
	}
	live := make([][]graph.Row, len(l.groups))
	for i, g := range l.groups {
		live[i] = unchanged(locked[g.src], g.rows)
	}
	exact, err := p.lookOutside(ctx, tx, l, live)
	if err != nil {
		return out, err
	}
	limit := int64(p.lease.Limit())
	budget := limit
	defer func() { out.leaves = limit - budget }()
	for i, g := range l.groups {
		out.next = i
		if len(live[i]) == 0 {
			continue
		}
		look := exact || g.tangled || len(out.stayed) > 0
		if out.full, err = p.dropGroup(ctx, tx, g.src, live[i], look, &budget, t, &out); out.full || err != nil {
			return out, failed(err, nil, i)
		}
	}
	out.next = len(l.groups)
	if l.root {
		out.done, out.full, err = p.finish(ctx, tx, here, &budget, t)
		err = failed(err, nil, len(l.groups))
	}
	return out, err
}

func sourcesOf(groups []group) (list []*graph.Source) {
	for _, g := range groups {
		if !slices.Contains(list, g.src) {
			list = append(list, g.src)
		}
	}
	return list
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
	live := make([]graph.Row, 0, len(seen))
	for _, was := range seen {
		if v, ok := locked[was.Key]; ok && v.Edge == was.Edge && v.Asset == was.Asset {
			live = append(live, v)
		}
	}
	return live
}

// maxRounds is how many rounds a batch makes over one chunk, where rows of a chunk may be below each other:
// each deletes those that have nothing below them any more. A foreign key from a table to
// itself is checked row by row, so no statement may delete a row and its child.
const maxRounds = 16

// dropGroup deletes, or detaches, the locked rows of a group, with their leaves. With look
// it asks which of them still have something below, and these stay. With full they all
// stay.
func (r *run) dropGroup(ctx context.Context, tx *onerow.Tx, s *graph.Source, live []graph.Row, look bool, budget *int64, t Tally, out *outcome) (full bool, err error) {
	if s.Edge.Detach {
		return false, r.detachRows(ctx, tx, s, live, t, out)
	}
	if full, err = r.dropUnread(ctx, tx, s.Node, live, budget, t); full || err != nil {
		return full, err
	}
	if !look && !r.unread.doubted(s.Node) {
		return false, r.deleteRows(ctx, tx, s, live, t, out.gone)
	}
	for range maxRounds {
		held, err := r.unread.heldRows(ctx, tx, s.Table, live)
		if err != nil {
			return false, err
		}
		free, rest := live, []graph.Row(nil)
		if len(held) > 0 {
			free = nil
			for _, v := range live {
				if held[v.Key] {
					rest = append(rest, v)
				} else {
					free = append(free, v)
				}
			}
		}
		if err := r.cutSelf(ctx, tx, s.Table, free); err != nil {
			return false, err
		}
		if err := r.deleteRows(ctx, tx, s, free, t, out.gone); err != nil {
			return false, err
		}
		if live = rest; len(free) == 0 || len(rest) == 0 || !s.Node.Self {
			break
		}
	}
	for _, v := range live {
		out.stayed = append(out.stayed, who{s.Node, v.Key})
	}
	return false, nil
}

// detachRows detaches locked rows, but for those that an earlier group of the batch has deleted.
func (r *run) detachRows(ctx context.Context, tx *onerow.Tx, s *graph.Source, live []graph.Row, t Tally, out *outcome) error {
	var keys []rowkey.Key
	again := true // an earlier group has detached them all, perhaps from the same columns
	for _, v := range live {
		row := who{s.Node, v.Key}
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
	n, err := r.detachKeys(ctx, tx, s, keys, t)
	if n == 0 && err == nil && !again { // they are locked, and are below something
		err = fault.ErrEndedUnsaid
	}
	return err
}

// deleteSQL deletes by the primary key. It names the table twice, as all do whose number of rows nobody
// checks: a DELETE of one table may be ended by the server without an error, see unread.proved.
func deleteSQL(t *graph.Table, keys []rowkey.Key) string {
	return "DELETE t FROM " + t.From + " AS t FORCE INDEX (PRIMARY) WHERE " + t.Key.In("t", keys)
}

// deleteRows keeps and deletes locked rows, notes them as gone, and marks what moves with them.
func (r *run) deleteRows(ctx context.Context, tx *onerow.Tx, s *graph.Source, rows []graph.Row, c Tally, gone map[who]bool) error {
	t := s.Table
	for _, v := range rows {
		gone[who{t.Node, v.Key}] = true
	}
	for part := range slices.Chunk(rows, listLength) {
		kept, err := r.keepRows(ctx, tx, t, s.Edge, graph.KeysOf(part))
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
