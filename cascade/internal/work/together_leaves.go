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

// dropBelowAll deletes and detaches what goes unread below roots, and says whether it ended at the limit.
func (b *Bundle) dropBelowAll(ctx context.Context, tx *onerow.Tx, roots []int, limit int64, tallies []Tally) (full bool, err error) {
	for _, e := range b.node.Edges {
		if !e.Leaf && !e.Detach {
			continue
		}
		for _, s := range e.Sources {
			fit, rows, err := b.dropFitting(ctx, tx, s, roots, limit, tallies)
			if limit -= rows; fit < len(roots) || err != nil {
				return true, err
			}
		}
	}
	return false, nil
}

// dropFitting does so over one edge and says for how many of the roots, from the first on, it had room.
func (b *Bundle) dropFitting(ctx context.Context, tx *onerow.Tx, s *graph.Source, roots []int, limit int64, tallies []Tally) (fit int, rows int64, err error) {
	if s.Edge.Detach {
		for fit, i := range roots {
			n, err := b.dropOf(ctx, tx, s, i, limit-rows, tallies[i])
			if rows += n; rows >= limit || err != nil {
				return fit, rows, err
			}
		}
		return len(roots), rows, nil
	}
	for fit := len(roots); fit > 0; fit /= 2 {
		if rows, fits, err := b.dropLeaves(ctx, tx, s, roots[:fit], limit, tallies); fits || err != nil {
			return fit, rows, err
		}
	}
	rows, err = b.dropOf(ctx, tx, s, roots[0], limit, tallies[roots[0]])
	return 0, rows, err
}

// dropOf is dropBelow for one root.
func (b *Bundle) dropOf(ctx context.Context, tx *onerow.Tx, s *graph.Source, root int, limit int64, t Tally) (int64, error) {
	keys := s.Edge.Keys([]graph.Row{b.places[root].row})
	if len(keys) == 0 {
		return 0, nil
	}
	rows, err := b.dropBelow(ctx, tx, s, keys, limit)
	if s.Edge.Detach {
		t.Detached[s.Name] += rows
	} else {
		t.Deleted[s.Name] += rows
	}
	return rows, err
}

// dropLeaves locks and counts the leaves below all roots, and deletes them by another statement; they do
// not fit where there are more than the limit: then none is deleted.
func (b *Bundle) dropLeaves(ctx context.Context, tx *onerow.Tx, s *graph.Source, roots []int, limit int64, tallies []Tally) (rows int64, fits bool, err error) {
	at := map[rowkey.Key]int{}
	for _, i := range roots {
		for _, key := range s.Edge.Keys([]graph.Row{b.places[i].row}) {
			at[key] = i
		}
	}
	if len(at) == 0 {
		return 0, true, nil
	}
	keys := slices.Sorted(maps.Keys(at))
	values := make([]sql.NullString, s.Columns.Width())
	dest := make([]any, len(values))
	for i := range values {
		dest[i] = &values[i]
	}
	counts := map[int]int64{}
	query := fmt.Sprintf("SELECT %s FROM %s%s WHERE %s%s LIMIT %d FOR UPDATE", s.Columns.Select(""), s.From, s.Index, s.When, s.Columns.In("", keys), limit+1)
	err = onerow.Query(ctx, tx, query, nil, func(found *sql.Rows) error {
		if err := found.Scan(dest...); err != nil {
			return err
		}
		key, _ := s.Columns.Key(values)
		i, ours := at[key]
		if !ours { // see NewBundle
			return errMoved
		}
		counts[i]++
		rows++
		return nil
	})
	if err != nil || rows > limit || rows == 0 {
		return 0, rows == 0, err
	}
	n, err := onerow.Affected(ctx, tx, leavesSQL(s, keys, rows+1))
	if err == nil && n != rows { // somebody has added one
		err = errMoved
	}
	for i, n := range counts {
		tallies[i].Deleted[s.Name] += n
	}
	return rows, true, err
}
