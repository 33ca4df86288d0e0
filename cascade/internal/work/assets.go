package work

import (
	"context"
	"fmt"
	"slices"

	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
)

// assetsPerCall is how many names Store.Delete gets at most.
const assetsPerCall = 100

// dropsAsset says whether the asset of a row of the group goes with it: not while the row is in the trash.
func (e *eraser) dropsAsset(g group, v graph.Row) bool {
	return v.Asset != "" && !g.src.Edge.Detach && !e.trash.Keeps(g.src.Table)
}

// dropsRootsAsset says whether the root's asset goes with it.
func (p *pass) dropsRootsAsset() bool {
	return p.expected.row.Asset != "" && !p.trash.Keeps(p.expected.table)
}

// hasAssets says whether any of the rows, or the root if it is to go, names an asset that goes with it.
func (p *pass) hasAssets(l load) bool {
	return l.roots && p.dropsRootsAsset() || slices.ContainsFunc(l.groups, func(g group) bool {
		return slices.ContainsFunc(g.rows, func(v graph.Row) bool { return p.dropsAsset(g, v) })
	})
}

// dropAssets deletes what the rows of the groups name, and with root set what the root
// row names. Outside of any transaction and before the rows go: a crash leaves rows whose
// assets are deleted again, never an asset that no row names. The fence stands before each
// call, for the last batch is some time ago: who has lost the job deletes none.
func (p *pass) dropAssets(ctx context.Context, groups []group, root bool) error {
	var names []string
	for _, g := range groups {
		for _, v := range g.rows {
			if p.dropsAsset(g, v) {
				names = append(names, v.Asset)
			}
		}
	}
	if root && p.dropsRootsAsset() {
		names = append(names, p.expected.row.Asset)
	}
	for part := range slices.Chunk(names, assetsPerCall) {
		if err := p.lease.Renew(ctx); err != nil {
			return err
		}
		if err := p.store.Delete(ctx, part); err != nil {
			return fmt.Errorf("cascade: delete %d assets of %s %s: %w", len(part), p.Resource, p.ResourceID, &fault.Assets{Err: err})
		}
	}
	return nil
}
