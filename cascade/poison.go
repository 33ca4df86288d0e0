package cascade

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/internal/rowkey"
)

// batchError says where in a batch a statement failed.
type batchError struct {
	err   error
	edge  *edge // the statement was about all that is below the group over this edge
	group int
}

func (e *batchError) Error() string { return e.err.Error() }
func (e *batchError) Unwrap() error { return e.err }

// failed notes where, unless that is known.
func failed(err error, e *edge, group int) error {
	if err == nil {
		return nil
	}
	var known *batchError
	if errors.As(err, &known) {
		known.group = group
		return err
	}
	return &batchError{err, e, group}
}

// isolate goes on after a batch that failed because of some row: it halves the batch until
// the row is found. What was deleted unread is read first. Each part is rehearsed again, so
// that what stays keeps its asset.
func (p *pass) isolate(ctx context.Context, l load, cause error) (done bool, err error) {
	var where *batchError
	if errors.As(cause, &where) && where.edge != nil {
		return p.distrust(ctx, l, where)
	}
	switch {
	case l.root && len(l.groups) > 0:
		if _, err := p.drop(ctx, load{groups: l.groups, exact: true}); err != nil {
			return false, err
		}
		return p.drop(ctx, load{root: true, exact: true})
	case l.root && !p.place.found:
		return false, cause
	case l.root:
		return false, p.park(ctx, p.place.table, p.place.row.key, cause)
	case len(l.groups) == 1 && len(l.groups[0].rows) == 1:
		return false, p.park(ctx, l.groups[0].src.table, l.groups[0].rows[0].key, cause)
	}
	for _, half := range halves(l.groups) {
		if _, err := p.drop(ctx, load{groups: half, exact: true}); err != nil {
			return false, err
		}
	}
	return false, nil
}

func halves(groups []group) [2][]group {
	if n := len(groups); n > 1 {
		return [2][]group{groups[:n/2], groups[n/2:]}
	}
	left, right := groups[0], groups[0]
	n := len(left.rows) / 2
	left.rows, right.rows = left.rows[:n], right.rows[n:]
	return [2][]group{{left}, {right}}
}

// distrust reads from now on what is below an edge, and then goes on with the load: its
// rows are deleted, or detached, by their keys.
func (p *pass) distrust(ctx context.Context, l load, where *batchError) (done bool, err error) {
	p.unread.suspect[where.edge] = true
	n, parents := p.node, []row{p.place.row}
	if where.group < len(l.groups) {
		n, parents = l.groups[where.group].src.node, l.groups[where.group].rows
	}
	if n != where.edge.parent {
		return false, where
	}
	if err := p.walkEdge(ctx, where.edge, parents); err != nil {
		return false, err
	}
	if err := p.flush(ctx); err != nil {
		return false, err
	}
	return p.drop(ctx, l)
}

// park puts a row aside, in a batch of its own: the job does not try it any more.
func (r *run) park(ctx context.Context, t *table, key rowkey.Key, cause error) error {
	total := 0
	for _, keys := range r.parked {
		total += len(keys)
	}
	encoded, err := t.key.Encode(key)
	if err != nil {
		return fmt.Errorf("cascade: a row of %s cannot be parked: %w; what was wrong with it: %w", t.name, err, cause)
	}
	if total >= r.limits.MaxParked {
		if err := r.tooManyParked(ctx, encoded, t, cause); err != nil {
			return err
		}
	}
	err = r.batch(ctx, func(ctx context.Context, tx *onerow.Tx, _ work.Tally) (bool, error) {
		return false, park(ctx, tx, r.JobID, t.name, encoded, fault.Redact(cause))
	})
	if err != nil {
		return err
	}
	r.leave(t, key)
	r.changes++
	r.lease.Parked(ctx, t.name, encoded, fault.Redact(cause))
	return nil
}

// tooManyParked refuses to park one more row, unless enough of the job's were skipped. One
// statement.
func (r *run) tooManyParked(ctx context.Context, encoded string, t *table, cause error) error {
	var open int64
	err := backoff.Read(ctx, func() (err error) {
		open, _, err = parkedCounts(ctx, r.db, r.JobID)
		return err
	})
	if err != nil || open < int64(r.limits.MaxParked) {
		return err
	}
	return fmt.Errorf("%w: %d of job %d, and the next would be %s of %s; look at cascade-worker parked list --job %d, repair or skip them, then retry job %d, or raise MaxParked: %w",
		ErrParked, open, r.JobID, encoded, t.name, r.JobID, r.JobID, cause)
}

// leave takes a row for one that is not to be tried.
func (r *run) leave(t *table, key rowkey.Key) {
	if r.parked[t.name] == nil {
		r.parked[t.name] = map[rowkey.Key]bool{}
	}
	r.parked[t.name][key] = true
}

// loadParked reads which rows earlier attempts have parked. Edges to their tables are
// read, lest they be deleted unread. One statement.
func (r *run) loadParked(ctx context.Context) error {
	r.parked = map[string]map[rowkey.Key]bool{}
	var stored map[string][]string
	err := backoff.Read(ctx, func() (err error) {
		stored, err = parkedKeys(ctx, r.db, r.JobID)
		return err
	})
	if err != nil || len(stored) == 0 {
		return err
	}
	for _, n := range r.graph.nodes {
		for _, t := range n.tables {
			for _, encoded := range stored[t.name] {
				if key, err := t.key.Decode(encoded); err == nil { // else the key has changed: it is another row now
					r.leave(t, key)
				}
			}
		}
		for _, e := range n.edges {
			for _, s := range e.sources {
				r.unread.suspect[e] = r.unread.suspect[e] || len(stored[s.name]) > 0
			}
		}
	}
	return nil
}
