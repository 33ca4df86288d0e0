package work

import (
	"context"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/quota"
)

// markOwners notes that owners have fewer active rows now. One statement per owner.
func markOwners(ctx context.Context, tx *onerow.Tx, t *graph.Table, rows []graph.Row) error {
	if !t.Node.Marks || !t.Active {
		return nil
	}
	done := map[string]bool{}
	for _, v := range rows {
		if v.Owner == "" || done[string(v.Owner)] {
			continue
		}
		done[string(v.Owner)] = true
		encoded, err := t.Owner.Encode(v.Owner)
		if err != nil {
			return err
		}
		parts, err := onerow.DecodeKey(encoded)
		if err != nil {
			return err
		}
		if err := quota.Mark(ctx, tx, t.Node.Name, parts...); err != nil {
			return err
		}
	}
	return nil
}
