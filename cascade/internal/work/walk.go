package work

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/rowkey"
)

// group is rows that were read together and are deleted together, or detached.
type group struct {
	src  *graph.Source
	rows []graph.Row
	// tangled: a child of one of the rows may be in this group or in a later one. Else all
	// that the pass has seen below them is in earlier ones.
	tangled bool
}

// rowRef is a row of either table of a node.
type rowRef struct {
	node *graph.Node
	key  rowkey.Key
}

// mark is what a pass knows of a row that it may meet again.
type mark int

const (
	onPath  mark = iota + 1 // it is being walked below
	pending                 // it waits to be deleted
	kept                    // it was tried and stayed
)

// What bounds memory: rows on the path from the root to where the walk is, and rows that
// stayed. Beyond it chunks are one row, and rows may be tried twice.
const (
	maxOnPath = 10_000
	maxKept   = 10_000
)

// loopRow is a row that is its own ancestor, or seems to be.
type loopRow struct {
	src *graph.Source
	key rowkey.Key
}

// walk goes through what is below the rows, depth first, as one pass sees it: the children that are not
// leaves, and everything below them. They are collected in post-order, so that several levels are deleted by
// one batch. Leaves go with their parents. What moves meanwhile, or appears, is left for the next pass.
func (p *pass) walk(ctx context.Context, n *graph.Node, rows []graph.Row) error {
	for _, e := range n.Edges {
		if p.check.goUnread(e) {
			continue
		}
		if err := p.walkEdge(ctx, e, rows); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) walkEdge(ctx context.Context, e *graph.Edge, parents []graph.Row) error {
	keys := e.Keys(parents)
	if len(keys) == 0 {
		return nil
	}
	for _, s := range e.Sources {
		if err := p.children(ctx, s, keys); err != nil {
			return err
		}
	}
	return nil
}

// children goes, chunk by chunk along the index of the edge, through the children of the parents in one
// table. It never reads the same rows twice, so it ends whatever others do to them. What is left after the
// first chunk it reads parent by parent where a chunk of several would be sorted each time.
func (p *pass) children(ctx context.Context, s *graph.Source, keys []rowkey.Key) error {
	after, full, err := p.chunk(ctx, s, keys, nil)
	if !full || err != nil {
		return err
	}
	size := len(keys)
	if !s.Sorted {
		size = 1
	}
	for some := range slices.Chunk(keys, size) {
		for next, full := after, true; full; {
			if next, full, err = p.chunk(ctx, s, some, next); err != nil {
				return err
			}
		}
	}
	return nil
}

// chunk takes the next rows after the place, and says where it ended and whether there may be more.
func (p *pass) chunk(ctx context.Context, s *graph.Source, keys []rowkey.Key, after rowkey.Place) (next rowkey.Place, full bool, err error) {
	limit := p.room()
	rows, next, err := p.read(ctx, s, keys, after, limit)
	if err != nil {
		return nil, false, err
	}
	full = len(rows) == limit
	if rows, err = p.fresh(ctx, s, keys, rows); err != nil {
		return nil, false, err
	}
	return next, full, p.take(ctx, s, rows)
}

// take walks below rows and puts them into the queue of what is to be deleted.
func (p *pass) take(ctx context.Context, s *graph.Source, rows []graph.Row) error {
	if len(rows) == 0 {
		return nil
	}
	tangled := false
	if !s.Edge.Detach {
		skipped := p.skipped
		p.skipped = false
		p.note(s.Node, rows, onPath)
		p.walking += len(rows)
		if err := p.walk(ctx, s.Node, rows); err != nil {
			return err
		}
		p.walking -= len(rows)
		p.note(s.Node, rows, pending)
		tangled, p.skipped = p.skipped, skipped
	}
	p.queue = append(p.queue, group{s, rows, tangled})
	if p.waiting += len(rows); p.waiting >= min(p.limits.Chunk, p.lease.Limit()) {
		return p.flush(ctx)
	}
	return nil
}

// room is how many rows are read at a time: a chunk, less where the walk is deep.
func (p *pass) room() int {
	return max(1, min(p.limits.Chunk, p.lease.Limit(), (maxOnPath-p.walking)/4))
}

// note remembers rows that the pass may come to again: over another edge, or in a loop.
func (p *pass) note(n *graph.Node, rows []graph.Row, m mark) {
	if !n.MetTwice() {
		return
	}
	for _, v := range rows {
		p.seen[rowRef{n, v.Key}] = m
	}
}

// fresh leaves out the rows that are parked or that the pass knows. Those on the path are
// in a loop, or are reached twice from one chunk.
func (p *pass) fresh(ctx context.Context, s *graph.Source, keys []rowkey.Key, rows []graph.Row) ([]graph.Row, error) {
	skip := p.parked[s.Name]
	known := !s.Edge.Detach && s.Node.MetTwice()
	if len(skip) == 0 && !known {
		return rows, nil
	}
	var loop []rowkey.Key
	left := rows[:0]
	for _, v := range rows {
		switch m := p.seen[rowRef{s.Node, v.Key}]; {
		case skip[v.Key] || known && (m == pending || m == kept):
		case known && m == onPath:
			loop = append(loop, v.Key)
		default:
			left = append(left, v)
		}
	}
	if len(loop) == 0 {
		return left, nil
	}
	p.skipped = true
	return left, p.cut(ctx, s, keys, loop)
}

// read reads a chunk of children outside of a transaction.
func (p *pass) read(ctx context.Context, s *graph.Source, keys []rowkey.Key, after rowkey.Place, limit int) (list []graph.Row, next rowkey.Place, err error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err := p.lease.Keep(ctx); err != nil {
		return nil, nil, err
	}
	query := s.ReadSQL(keys, after, limit)
	err = backoff.Read(ctx, func() error {
		list = nil
		var place []sql.NullString
		scanner := s.Reader()
		err := onerow.Query(ctx, p.db, query, nil, func(rows *sql.Rows) error {
			v, extra, err := scanner.Scan(rows)
			list, place = append(list, v), extra
			return err
		})
		if err == nil && len(list) == limit {
			next = s.Place(place)
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("cascade: read what is below %s in %s: %w", s.Edge.Parent.Name, s.Name, err)
	}
	return list, next, nil
}
