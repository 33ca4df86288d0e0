package work

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/rowkey"
)

// dropBelowRoots deletes and detaches what goes unread below several roots, each row for the job of its root,
// and says whether the batch's limit was reached.
func (e *eraser) dropBelowRoots(ctx context.Context, tx *onerow.Tx, roots []int, limit int64, tallies []Tally) (full bool, err error) {
	for _, edge := range e.node.Edges {
		if !e.check.goUnread(edge) {
			continue
		}
		for _, s := range edge.Sources {
			all, rows, err := e.dropFitting(ctx, tx, s, roots, limit, tallies)
			if limit -= rows; !all || err != nil {
				return true, err
			}
		}
	}
	return false, nil
}

// dropFitting does so over one edge, for as many of the roots as it has room for, and says whether that was
// all of them. Rows come along the index of the edge, parent by parent, so every parent that was seen has all
// its rows counted, except perhaps the last; should they come in another order, half as many are tried next.
func (e *eraser) dropFitting(ctx context.Context, tx *onerow.Tx, s *graph.Source, roots []int, limit int64, tallies []Tally) (all bool, rows int64, err error) {
	if s.Edge.Detach {
		for _, i := range roots {
			n, err := e.dropOf(ctx, tx, s, i, limit-rows, tallies[i])
			if rows += n; rows >= limit || err != nil {
				return false, rows, err
			}
		}
		return true, rows, nil
	}
	some := roots
	for try := 0; len(some) > 0; try++ {
		rows, whole, err := e.dropLeaves(ctx, tx, s, some, limit, tallies)
		if rows <= limit || err != nil {
			return len(some) == len(roots), rows, err
		}
		some = whole[:len(whole)>>try]
	}
	rows, err = e.dropOf(ctx, tx, s, roots[0], limit, tallies[roots[0]])
	return false, rows, err
}

// dropOf is dropBelow for one of the roots.
func (e *eraser) dropOf(ctx context.Context, tx *onerow.Tx, s *graph.Source, root int, limit int64, t Tally) (int64, error) {
	keys := s.Edge.Keys([]graph.Row{e.roots[root].locked.row})
	if len(keys) == 0 {
		return 0, nil
	}
	return e.dropBelow(ctx, tx, s, keys, limit, t)
}

// parentsBelowSQL locks rows below parents along the index of the edge, and says whose each of them is.
func parentsBelowSQL(s *graph.Source, parents []rowkey.Key, limit int64) string {
	return fmt.Sprintf("SELECT %s%s%s FROM %s%s WHERE %s%s LIMIT %d FOR UPDATE", graph.Dive, s.Columns.Select(""), s.Outside, s.From, s.Wide(), s.When, s.Columns.In("", parents), limit)
}

// dropLeaves locks and counts the leaves below roots, and deletes them by another statement. Where there are
// more than the limit it deletes none, and returns the roots whose leaves it has seen before the last one's.
func (e *eraser) dropLeaves(ctx context.Context, tx *onerow.Tx, s *graph.Source, roots []int, limit int64, tallies []Tally) (rows int64, whole []int, err error) {
	at := map[rowkey.Key]int{}
	for _, i := range roots {
		for _, key := range s.Edge.Keys([]graph.Row{e.roots[i].locked.row}) {
			at[key] = i
		}
	}
	if len(at) == 0 {
		return 0, nil, nil
	}
	keys := slices.Sorted(maps.Keys(at))
	counts, last := map[int]int64{}, 0
	err = graph.ReadColumns(ctx, tx, s.Columns, parentsBelowSQL(s, keys, limit+1), nil, func(key rowkey.Key, _ []sql.NullString) error {
		i, known := at[key]
		if !known { // see rootOf
			return errMoved
		}
		counts[i]++
		rows++
		last = i
		return nil
	})
	if err != nil || rows == 0 {
		return 0, nil, err
	}
	if rows > limit {
		delete(counts, last)
		return rows, slices.Sorted(maps.Keys(counts)), nil
	}
	n, err := onerow.Affected(ctx, tx, leavesSQL(s, keys, rows+1))
	if err == nil && n != rows { // somebody has added one
		err = errMoved
	}
	for i, n := range counts {
		tallies[i].Deleted[s.Name] += n
	}
	return rows, nil, err
}
