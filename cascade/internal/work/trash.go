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
			r.suspect(e.Child)
		}
		if e.Leaf && slices.ContainsFunc(e.Child.Tables, r.trash.Keeps) {
			r.widths[e.Parent] = firstWidth
		}
	}
	return nil
}

// lost says whether the row above is gone, of rows that were found over the edge: below a root that is not
// there.
func (r *run) lost(e *graph.Edge) bool { return e != nil && e.Parent == r.node && r.rootless }

// keepRows keeps locked rows that are about to be deleted and were found over an edge, and says whether it
// has.
func (r *run) keepRows(ctx context.Context, tx *onerow.Tx, t *graph.Table, e *graph.Edge, keys []rowkey.Key) (bool, error) {
	if !r.trash.Keeps(t) {
		return false, nil
	}
	return true, r.trash.Rows(ctx, tx, t, t.Key.In("", keys), len(keys), trash.Via{Edge: e, Lost: r.lost(e)})
}

// keepCut keeps rows whose references are about to become NULL.
func (r *run) keepCut(ctx context.Context, tx *onerow.Tx, s *graph.Source, where string) error {
	if !r.trash.Keeps(s.Table) {
		return nil
	}
	return r.trash.Cut(ctx, tx, s, where)
}
