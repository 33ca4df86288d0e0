package work

import (
	"context"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/trash"
	"github.com/onerow/onerow/internal/rowkey"
)

// openTrash looks which rows of the plan are kept. None of those goes unread that is, or may be, detached: it
// is locked, copied and changed by its key. One statement, none where the plan keeps nothing.
func (r *run) openTrash(ctx context.Context) error {
	keeps := func(t *graph.Table) bool { return t.Trash != nil }
	wanted := false
	for _, n := range r.graph.Nodes {
		wanted = wanted || slices.ContainsFunc(n.Tables, keeps)
	}
	if !wanted {
		return nil
	}
	err := backoff.Read(ctx, func() (err error) {
		r.trash, err = trash.Open(ctx, r.db, r.JobID)
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range r.graph.Edges {
		if e.Detach && slices.ContainsFunc(e.Child.Tables, r.trash.Keeps) {
			r.check.suspectRows(r.graph, e.Child)
		}
		if e.Leaf && slices.ContainsFunc(e.Child.Tables, r.trash.Keeps) {
			r.widths[e.Parent] = firstWidth
		}
	}
	return nil
}

// isRowAboveGone says whether rows that were found over the edge are below a root that is not there.
func (e *eraser) isRowAboveGone(edge *graph.Edge) bool {
	return edge != nil && edge.Parent == e.node && !e.roots[0].expected.found
}

// keepRows keeps locked rows that are about to be deleted and were found over an edge, and says whether it
// has.
func (e *eraser) keepRows(ctx context.Context, tx *onerow.Tx, t *graph.Table, edge *graph.Edge, keys []rowkey.Key) (bool, error) {
	if !e.trash.Keeps(t) {
		return false, nil
	}
	return true, e.trash.Rows(ctx, tx, t, t.Key.In("", keys), len(keys), trash.Via{Edge: edge, Lost: e.isRowAboveGone(edge)})
}

// keepCut keeps rows whose references are about to become NULL.
func (e *eraser) keepCut(ctx context.Context, tx *onerow.Tx, s *graph.Source, where string) error {
	if !e.trash.Keeps(s.Table) {
		return nil
	}
	return e.trash.Cut(ctx, tx, s, where)
}
