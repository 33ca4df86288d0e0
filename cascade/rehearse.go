package cascade

import (
	"context"
	"errors"
	"slices"

	"github.com/onerow/onerow"
)

// names says whether the asset of a row of the group goes with it.
func (g *group) names(v row) bool { return v.asset != "" && !g.src.edge.detach }

// assets says whether any of the rows, or the root if it is to go, names an asset.
func (r *run) assets(groups []group, last bool) bool {
	return last && r.place.row.asset != "" ||
		slices.ContainsFunc(groups, func(g group) bool { return slices.ContainsFunc(g.rows, g.names) })
}

// drop deletes the groups in their order, with their assets and leaves, as far as nothing
// else is below their rows, and with last set the root row after them, and says whether
// that ended the job.
//
// An asset cannot be brought back, and whether its row will go the database alone knows:
// something may be below it that is parked or that a foreign key holds, a trigger may
// object. So a batch with assets is rehearsed in a transaction that is rolled back. Only
// assets of rows that went there are deleted, and then only these rows are tried.
func (r *run) drop(ctx context.Context, groups []group, last bool) (done bool, err error) {
	p := portions{groups: groups}
	for r.assets(p.groups, last) {
		now, rest := p.next()
		root := last && len(rest) == 0 && r.place.row.asset != ""
		limit := r.pace.limit()
		out, err := r.rehearse(ctx, now, root)
		if err == nil {
			ready := r.ready(now[:out.next], out)
			if err := r.dropAssets(ctx, ready, out.done); err != nil {
				return false, err
			}
			if !out.full && len(rest) == 0 {
				return r.dropRows(ctx, ready, last && (out.done || !root))
			}
			if _, err := r.dropRows(ctx, ready, false); err != nil {
				return false, err
			}
			if p.took(now, rest, out, limit) {
				err = r.clearFirst(ctx, p.groups)
			}
		}
		switch {
		case poisonous(err):
			return r.isolate(ctx, p.groups, last, err)
		case err != nil:
			return false, err
		}
	}
	return r.dropRows(ctx, p.groups, last)
}

var errRehearsed = errors.New("cascade: a rehearsal is rolled back")

// rehearse is a batch of dropRows that is rolled back, with its fence.
func (r *run) rehearse(ctx context.Context, groups []group, last bool) (out outcome, err error) {
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if err := r.drift(ctx); err != nil {
		return out, err
	}
	fenced := r.fenced
	err = onerow.InTx(ctx, r.db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		if err := r.fence(ctx, tx); err != nil {
			return err
		}
		if out, err = r.dropLocked(ctx, tx, groups, last, tally{counts{}, counts{}}); err != nil {
			return err
		}
		return errRehearsed
	})
	r.fenced = fenced
	if errors.Is(err, errRehearsed) {
		err = nil
	}
	return out, err
}

// ready is the groups without the rows that name an asset and did not go. The pass does not
// come back to these.
func (r *run) ready(groups []group, out outcome) (ready []group) {
	for _, g := range groups {
		stays := func(v row) bool { return g.names(v) && !out.gone[who{g.src.node, v.key}] }
		if slices.ContainsFunc(g.rows, stays) {
			left := g
			left.rows = slices.DeleteFunc(slices.Clone(g.rows), func(v row) bool { return !stays(v) })
			r.noteStayed([]group{left}, out.stayed)
			g.rows = slices.DeleteFunc(slices.Clone(g.rows), stays)
		}
		if len(g.rows) > 0 {
			ready = append(ready, g)
		}
	}
	return ready
}
