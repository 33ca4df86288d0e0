package work

import (
	"context"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
)

// dropsAsset says whether the asset of a row of the group goes with it: not while the row is in the trash.
func (r *run) dropsAsset(g group, v graph.Row) bool {
	return v.Asset != "" && !g.src.Edge.Detach && !r.trash.Keeps(g.src.Table)
}

// dropsRoots says whether the root's asset goes with it.
func (p *pass) dropsRoots() bool {
	return p.place.row.Asset != "" && !p.trash.Keeps(p.place.table)
}

// hasAssets says whether any of the rows, or the root if it is to go, names an asset.
func (p *pass) hasAssets(l load) bool {
	return l.root && p.dropsRoots() || slices.ContainsFunc(l.groups, func(g group) bool {
		return slices.ContainsFunc(g.rows, func(v graph.Row) bool { return p.dropsAsset(g, v) })
	})
}

// load is what is to be deleted by one batch, or by several.
type load struct {
	groups []group // in this order
	root   bool    // after them the root row, which ends the job
	exact  bool    // a row of it is poisonous: each is looked at
}

// part is what a batch takes of a load, whose rest comes later.
func (l load) part(now, rest []group) load {
	return load{groups: now, root: l.root && len(rest) == 0, exact: l.exact}
}

// drop deletes a load in its order, with its assets and leaves, as far as nothing else is below its rows,
// and says whether that ended the job.
//
// An asset cannot be brought back, and whether its row will go the database alone knows:
// something may be below it that is parked or that a foreign key holds, a trigger may
// object. So a batch with assets is rehearsed in a transaction that is rolled back. Only
// assets of rows that went there are deleted, and then only these rows are tried.
func (p *pass) drop(ctx context.Context, l load) (done bool, err error) {
	for todo := (portions{l.groups, p.widths}); p.hasAssets(l); {
		now, rest := todo.next()
		part := l.part(now, rest)
		root := part.root && p.dropsRoots()
		limit := p.lease.Limit()
		out, err := p.rehearse(ctx, load{groups: now, root: root, exact: l.exact})
		if err == nil {
			part.groups = p.ready(now[:out.next], out)
			if err := p.dropAssets(ctx, part.groups, out.done); err != nil {
				return false, err
			}
			if !out.full && len(rest) == 0 {
				part.root = l.root && (out.done || !root)
				return p.dropInBatches(ctx, part)
			}
			part.root = false
			if _, err := p.dropInBatches(ctx, part); err != nil {
				return false, err
			}
			if todo.took(now, rest, out, limit) {
				err = p.clearFirst(ctx, todo.groups)
			}
		}
		l.groups = todo.groups
		switch {
		case fault.OfRow(err):
			return p.isolate(ctx, l, err)
		case err != nil:
			return false, err
		}
	}
	return p.dropInBatches(ctx, l)
}

// rehearse is a batch of dropInBatches that is rolled back.
func (p *pass) rehearse(ctx context.Context, l load) (out outcome, err error) {
	err = p.lease.Rehearse(ctx, func(ctx context.Context, tx *onerow.Tx) (err error) {
		out, err = p.lockAndDrop(ctx, tx, l, NewTally())
		return err
	})
	return out, err
}

// ready is the groups without the rows that name an asset and did not go. The pass does not
// come back to these.
func (p *pass) ready(groups []group, out outcome) (ready []group) {
	for _, g := range groups {
		stays := func(v graph.Row) bool { return p.dropsAsset(g, v) && !out.gone[who{g.src.Node, v.Key}] }
		if slices.ContainsFunc(g.rows, stays) {
			left := g
			left.rows = slices.DeleteFunc(slices.Clone(g.rows), func(v graph.Row) bool { return !stays(v) })
			p.noteStayed([]group{left}, out.stayed)
			g.rows = slices.DeleteFunc(slices.Clone(g.rows), stays)
		}
		if len(g.rows) > 0 {
			ready = append(ready, g)
		}
	}
	return ready
}
