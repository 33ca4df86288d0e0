package cascade

import (
	"context"
	"fmt"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/quota"
)

// remove deletes the rows of an inner resource that a chunk found, with their
// assets and leaves, as far as nothing else is below them.
func (r *run) remove(ctx context.Context, n *node, t table, rows []row) error {
	if err := r.deleteAssets(ctx, rows); err != nil {
		return err
	}
	for {
		full := false
		err := r.batch(ctx, func(ctx context.Context, tx *onerow.Tx, c counts) (err error) {
			full, err = r.removeLocked(ctx, tx, n, t, rows, c)
			return err
		})
		if err != nil || !full {
			return err
		}
		if err := r.clear(ctx, n, ids(rows)); err != nil {
			return err
		}
	}
}

// removeLocked is one batch of remove. It locks the rows by their key; this is the
// one place where a row lock decides: whoever adds a child holds a share lock on its
// parent, so it is before us, and we see the child, or after us, and finds no
// parent. Rows that still have something below stay, and all of them when there
// were too many leaves (full).
func (r *run) removeLocked(ctx context.Context, tx *onerow.Tx, n *node, t table, rows []row, c counts) (full bool, err error) {
	locked, err := r.rows(ctx, tx, t.lock+in(ids(rows))+" FOR UPDATE")
	if err != nil {
		return false, err
	}
	locked = unchanged(locked, rows)
	if len(locked) == 0 {
		return false, nil
	}
	if full, err = r.leaves(ctx, tx, n, ids(locked), c); full || err != nil {
		return full, err
	}
	held, err := r.above(ctx, tx, n, ids(locked))
	if err != nil {
		return false, err
	}
	locked = slices.DeleteFunc(locked, func(v row) bool { return held[v.id.Int64] })
	if len(locked) == 0 {
		return false, nil
	}
	deleted, err := onerow.Affected(ctx, tx, t.remove+in(ids(locked)))
	if err != nil {
		return false, err
	}
	c[t.name] += deleted
	return false, r.mark(ctx, tx, n, t, locked)
}

// unchanged returns the locked rows that are still where and what they were: below
// the same parent, and naming the asset that was deleted.
func unchanged(locked, seen []row) []row {
	before := make(map[int64]row, len(seen))
	for _, v := range seen {
		before[v.id.Int64] = v
	}
	return slices.DeleteFunc(locked, func(v row) bool {
		was := before[v.id.Int64]
		return v.parent != was.parent || v.asset.String != was.asset.String
	})
}

// mark notes that owners have fewer active rows now. One statement per owner.
func (r *run) mark(ctx context.Context, tx *onerow.Tx, n *node, t table, rows []row) error {
	if !n.marks || !t.active {
		return nil
	}
	done := map[int64]bool{}
	for _, v := range rows {
		if owner := v.owner; owner.Valid && !done[owner.Int64] {
			done[owner.Int64] = true
			if err := quota.Mark(ctx, tx, n.res.Name, owner.Int64); err != nil {
				return err
			}
		}
	}
	return nil
}

// assetsPerCall is the promise of Assets.Delete.
const assetsPerCall = 100

// deleteAssets deletes what the rows name. Outside of any transaction and before the
// rows go: a crash leaves rows whose assets are deleted again, never an asset that
// no row names.
func (r *run) deleteAssets(ctx context.Context, rows []row) error {
	var names []string
	for _, v := range rows {
		if v.asset.String != "" {
			names = append(names, v.asset.String)
		}
	}
	for i := 0; i < len(names); i += assetsPerCall {
		if i > 0 { // the last batch is some time ago
			if err := r.renew(ctx); err != nil {
				return err
			}
		}
		part := names[i:min(i+assetsPerCall, len(names))]
		if err := r.cfg.Assets.Delete(ctx, part); err != nil {
			return fmt.Errorf("cascade: delete %d assets of %s %s: %w", len(part), r.job.Resource, r.job.ResourceID, &assetsError{err})
		}
	}
	return nil
}

// assetsError keeps a network error of the asset store from being taken for one of
// the database: it counts as a failure of the job.
type assetsError struct{ err error }

func (e *assetsError) Error() string { return e.err.Error() }
func (e *assetsError) Unwrap() error { return e.err }
