package work

import (
	"context"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
)

// load is what is to be deleted by one batch, or by several.
type load struct {
	groups     []group // in this order
	roots      bool    // after them the roots, which ends their jobs
	checkEach  bool    // a row of it is poisonous: each group is checked
	assetsGone bool    // what its rows name is deleted already
}

// part is what a batch takes of a load, whose rest comes later.
func (l load) part(now, rest []group) load {
	l.groups, l.roots = now, l.roots && len(rest) == 0
	return l
}

// drop deletes a load in its order, with its assets and leaves, as far as nothing else is below its rows, and
// says whether that ended the job. It takes as much at a time as the portions say.
//
// An asset cannot be brought back, and only the database knows whether its row can be deleted: something may
// be below it that is parked or that a foreign key holds, a trigger may object. So a batch with assets is
// rehearsed in a transaction that is rolled back. Only assets of rows that went there are deleted, and then
// only these rows are tried.
func (p *pass) drop(ctx context.Context, l load) (done bool, err error) {
	for todo := (portions{l.groups, p.widths}); len(todo.groups) > 0 || l.roots; {
		now, rest := todo.next()
		part := l.part(now, rest)
		limit := p.lease.Limit()
		rehearsed := !l.assetsGone && p.hasAssets(part)
		out, err := p.try(ctx, part, limit, rehearsed)
		if err == nil && rehearsed {
			if out.done, err = p.dropRehearsed(ctx, part, out); err != nil {
				return false, err
			}
		}
		if err == nil {
			if !out.full && len(rest) == 0 {
				return out.done, nil
			}
			if todo.took(now, rest, out, limit) {
				n, first := p.node, []graph.Row{p.expected.row}
				if len(todo.groups) > 0 {
					n, first = todo.groups[0].src.Node, todo.groups[0].rows[:1]
				}
				err = p.clearUnread(ctx, n, first)
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
	return false, nil
}

// try drops a part in a batch, or rehearses that. The root is part of a rehearsal only if it names an asset.
func (p *pass) try(ctx context.Context, part load, limit int, rehearse bool) (out outcome, err error) {
	if rehearse {
		part.roots = part.roots && p.dropsRootsAsset()
		err = p.lease.Rehearse(ctx, func(ctx context.Context, tx *onerow.Tx) (err error) {
			out, err = p.dropBatch(ctx, tx, part, limit, []Tally{NewTally()})
			return err
		})
		p.held = p.held || out.held
		return out, err
	}
	err = p.batch(ctx, func(ctx context.Context, tx *onerow.Tx, t Tally) (_ bool, err error) {
		if out, err = p.dropBatch(ctx, tx, part, limit, []Tally{t}); err == nil && out.done {
			err = p.end(ctx, tx)
		}
		return out.done, err
	})
	if err == nil {
		p.held = p.held || out.held
		p.noteStayed(part.groups[:out.next], out.stayed)
	}
	return out, err
}

// dropRehearsed deletes the assets of the rows that went in a rehearsal, and then these rows and those that
// name none. The root is tried if it has gone there, or names no asset.
func (p *pass) dropRehearsed(ctx context.Context, part load, out outcome) (done bool, err error) {
	ready := p.ready(part.groups[:out.next], out)
	if err := p.dropAssets(ctx, ready, out.done); err != nil {
		return false, err
	}
	part.groups, part.assetsGone = ready, true
	part.roots = part.roots && !out.full && (out.done || !p.dropsRootsAsset())
	return p.drop(ctx, part)
}

// ready is the groups without the rows that name an asset and did not go. The pass does not
// come back to these.
func (p *pass) ready(groups []group, out outcome) (ready []group) {
	for _, g := range groups {
		stays := func(v graph.Row) bool { return p.dropsAsset(g, v) && !out.gone[rowRef{g.src.Node, v.Key}] }
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
