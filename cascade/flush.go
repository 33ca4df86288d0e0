package cascade

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/internal/rowkey"
)

// flush deletes what is pending.
func (p *pass) flush(ctx context.Context) error {
	_, err := p.drop(ctx, load{groups: p.unqueue()})
	return err
}

// unqueue takes everything out of the queue.
func (p *pass) unqueue() []group {
	groups := p.queue
	p.queue, p.waiting = nil, 0
	return groups
}

// outcome is what came of dropLocked.
type outcome struct {
	next   int   // groups that are done with
	full   bool  // there were too many leaves below the next group, or the root
	leaves int64 // rows that went unread
	done   bool  // the job is at its end
	stayed []who // rows that something else is below
	gone   map[who]bool
}

// noteStayed notes which rows stayed, so that the pass does not try them again.
func (p *pass) noteStayed(groups []group, stayed []who) {
	p.held = p.held || len(stayed) > 0
	for _, g := range groups {
		if g.src.node.above > 1 || g.src.node.self {
			for _, v := range g.rows {
				delete(p.seen, who{g.src.node, v.key})
			}
		}
	}
	for _, w := range stayed {
		if len(p.seen) < maxOnPath+maxKept && (w.node.above > 1 || w.node.self) {
			p.seen[w] = kept
		}
	}
}

// lockSQL locks rows by their primary key; this is the one place where a row lock decides:
// whoever adds a child holds a share lock on its parent, so it is before us, and we see
// the child, or after us, and finds no parent.
func lockSQL(s *source, keys []rowkey.Key) string {
	return "SELECT " + s.table.columns(&s.columns) + " FROM " + s.from + " FORCE INDEX (PRIMARY) WHERE " + s.key.In("", keys) + " FOR UPDATE"
}

// dropLocked is one batch of drop. All locks come first: at REPEATABLE READ the first read
// without a lock fixes what the batch sees, and that must be newer than every lock. Rows
// that still have something below stay.
func (p *pass) dropLocked(ctx context.Context, tx *onerow.Tx, l load, t work.Tally) (out outcome, err error) {
	out.gone = map[who]bool{}
	locked := map[*source]map[rowkey.Key]row{}
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
	live := make([][]row, len(l.groups))
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

func sourcesOf(groups []group) (list []*source) {
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
func lock(ctx context.Context, tx *onerow.Tx, s *source, groups []group) (map[rowkey.Key]row, error) {
	var keys []rowkey.Key
	for _, g := range groups {
		if g.src == s {
			keys = append(keys, keysOf(g.rows)...)
		}
	}
	locked := make(map[rowkey.Key]row, len(keys))
	for part := range slices.Chunk(keys, listLength) {
		scanner := s.scanner(&s.columns, 0)
		err := onerow.Query(ctx, tx, lockSQL(s, part), nil, func(rows *sql.Rows) error {
			v, _, err := scanner.scan(rows)
			locked[v.key] = v
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if s.edge.detach {
		return locked, nil
	}
	return locked, lockGuards(ctx, tx, s.table, slices.Collect(maps.Values(locked)))
}

// unchanged returns the locked rows that are still where and what they were: below the
// same parent, and naming the asset that was deleted.
func unchanged(locked map[rowkey.Key]row, seen []row) []row {
	live := make([]row, 0, len(seen))
	for _, was := range seen {
		if v, ok := locked[was.key]; ok && v.edge == was.edge && v.asset == was.asset {
			live = append(live, v)
		}
	}
	return live
}

// maxRounds is how often a batch deletes the rows of one chunk that nothing is below any
// more, where rows of a chunk may be below each other. A foreign key from a table to
// itself is checked row by row, so no statement may delete a row and its child.
const maxRounds = 16

// dropGroup deletes, or detaches, the locked rows of a group, with their leaves. With look
// it asks which of them still have something below, and these stay. With full they all
// stay.
func (r *run) dropGroup(ctx context.Context, tx *onerow.Tx, s *source, live []row, look bool, budget *int64, t work.Tally, out *outcome) (full bool, err error) {
	if s.edge.detach {
		n, err := onerow.Affected(ctx, tx, detachRowsSQL(s, keysOf(live)))
		if n == 0 && err == nil { // they are locked, and are below something
			err = fault.ErrEndedUnsaid
		}
		t.Detached[s.name] += n
		return false, err
	}
	if full, err = r.below(ctx, tx, s.node, live, budget, t); full || err != nil {
		return full, err
	}
	if !look && !r.unread.doubted(s.node) {
		return false, removeRows(ctx, tx, s.table, live, t, out.gone)
	}
	for range maxRounds {
		held, err := r.unread.above(ctx, tx, s.table, live)
		if err != nil {
			return false, err
		}
		free, rest := live, []row(nil)
		if len(held) > 0 {
			free = nil
			for _, v := range live {
				if held[v.key] {
					rest = append(rest, v)
				} else {
					free = append(free, v)
				}
			}
		}
		if err := r.cutOwn(ctx, tx, s.table, free); err != nil {
			return false, err
		}
		if err := removeRows(ctx, tx, s.table, free, t, out.gone); err != nil {
			return false, err
		}
		if live = rest; len(free) == 0 || len(rest) == 0 || !s.node.self {
			break
		}
	}
	for _, v := range live {
		out.stayed = append(out.stayed, who{s.node, v.key})
	}
	return false, nil
}

// removeSQL deletes by the primary key. It names the table twice, as all do whose answer nobody looks at: a
// DELETE of one table may be ended by the server without an error, see proved.
func removeSQL(t *table, keys []rowkey.Key) string {
	return "DELETE t FROM " + t.from + " AS t FORCE INDEX (PRIMARY) WHERE " + t.key.In("t", keys)
}

// removeRows deletes locked rows, notes them as gone, and marks what moves with them.
func removeRows(ctx context.Context, tx *onerow.Tx, t *table, rows []row, c work.Tally, gone map[who]bool) error {
	for _, v := range rows {
		gone[who{t.node, v.key}] = true
	}
	for part := range slices.Chunk(rows, listLength) {
		n, err := onerow.Affected(ctx, tx, removeSQL(t, keysOf(part)))
		if err != nil {
			return err
		}
		c.Deleted[t.name] += n
	}
	return markOwners(ctx, tx, t, rows)
}
