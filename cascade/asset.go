package cascade

import (
	"context"
	"fmt"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/quota"
)

// markOwners notes that owners have fewer active rows now. One statement per owner.
func markOwners(ctx context.Context, tx *onerow.Tx, t *table, rows []row) error {
	if !t.node.marks || !t.active {
		return nil
	}
	done := map[string]bool{}
	for _, v := range rows {
		if v.owner == "" || done[string(v.owner)] {
			continue
		}
		done[string(v.owner)] = true
		encoded, err := t.owner.Encode(v.owner)
		if err != nil {
			return err
		}
		parts, err := onerow.DecodeKey(encoded)
		if err != nil {
			return err
		}
		if err := quota.Mark(ctx, tx, t.node.Name, parts[0]); err != nil {
			return err
		}
	}
	return nil
}

// assetsPerCall is the promise of Assets.Delete.
const assetsPerCall = 100

// dropAssets deletes what the rows of the groups name, and with root set what the root
// row names. Outside of any transaction and before the rows go: a crash leaves rows whose
// assets are deleted again, never an asset that no row names. The fence stands before each
// call, for the last batch is some time ago: who has lost the job deletes none.
func (p *pass) dropAssets(ctx context.Context, groups []group, root bool) error {
	var names []string
	for _, g := range groups {
		for _, v := range g.rows {
			if g.names(v) {
				names = append(names, v.asset)
			}
		}
	}
	if root && p.place.row.asset != "" {
		names = append(names, p.place.row.asset)
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
