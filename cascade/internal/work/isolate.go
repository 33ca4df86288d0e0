package work

import (
	"context"
	"errors"
	"slices"

	"github.com/onerow/onerow/cascade/internal/graph"
)

// batchError says where in a batch a statement failed.
type batchError struct {
	err   error
	edge  *graph.Edge // the statement was about all that is below the group over this edge
	group int
}

func (e *batchError) Error() string { return e.err.Error() }
func (e *batchError) Unwrap() error { return e.err }

// failed notes the group; an edge that is noted already stays.
func failed(err error, e *graph.Edge, group int) error {
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

// isolate goes on after a batch that failed because of some row: it halves the batch until the row is found.
// What was deleted unread is read first. Each part is rehearsed again, so that what stays keeps its asset.
func (p *pass) isolate(ctx context.Context, l load, cause error) (done bool, err error) {
	l.assetsGone = false
	var where *batchError
	if errors.As(cause, &where) && where.edge != nil {
		return p.distrust(ctx, l, where)
	}
	switch {
	case l.roots && len(l.groups) > 0:
		if _, err := p.drop(ctx, load{groups: l.groups, checkEach: true}); err != nil {
			return false, err
		}
		return p.drop(ctx, load{roots: true, checkEach: true})
	case l.roots && !p.expected.found:
		return false, cause
	case l.roots:
		return false, p.park(ctx, p.expected.table, p.expected.row.Key, cause)
	case len(l.groups) == 1 && len(l.groups[0].rows) == 1:
		return false, p.park(ctx, l.groups[0].src.Table, l.groups[0].rows[0].Key, cause)
	}
	for _, half := range halves(l.groups) {
		if _, err := p.drop(ctx, load{groups: half, checkEach: true}); err != nil {
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
	p.check.suspect[where.edge] = true
	if child := where.edge.Child; slices.ContainsFunc(child.Tables, p.trash.Keeps) {
		p.check.suspectRows(p.graph, child) // what is read and kept over one edge does not go unread over another one
	}
	n, parents := p.node, []graph.Row{p.expected.row}
	if where.group < len(l.groups) {
		n, parents = l.groups[where.group].src.Node, l.groups[where.group].rows
	}
	if n != where.edge.Parent {
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
