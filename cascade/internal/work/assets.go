package work

import (
	"context"
	"fmt"
	"slices"

	"github.com/onerow/onerow/cascade/internal/fault"
)

// assetsPerCall is how many names Store.Delete gets at most.
const assetsPerCall = 100

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
	if root && p.dropsRoots() {
		names = append(names, p.place.row.Asset)
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
