package work

import (
	"context"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/recount"
)

// MarkOwners notes that owners have fewer rows now: for the quota, which counts active rows, and for each
// limit, which counts rows that a deletion hid too. One statement per owner and limit.
func MarkOwners(ctx context.Context, tx *onerow.Tx, t *graph.Table, rows []graph.Row) error {
	marks := t.Node.Quota != "" && t.Active
	if !t.Node.Owned || !marks && len(t.Node.Limits) == 0 {
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
		if marks {
			if err := recount.Quota(ctx, tx, t.Node.Name, encoded); err != nil {
				return err
			}
		}
		for _, l := range t.Node.Limits {
			owner, err := onerow.EncodeKey(parts[:l.Owners]...)
			if err != nil {
				return err
			}
			if done[l.Name+" "+owner] { // as for another owner of the tenant's
				continue
			}
			done[l.Name+" "+owner] = true
			if err := recount.Limit(ctx, tx, l.Name, owner); err != nil {
				return err
			}
		}
	}
	return nil
}
