package repo

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
)

// Count is how many rows of one state an owner has, without those that a deletion hides: at most this many,
// for a page that says "500+". An answer of most means that there may be more. One statement, which reads
// that many entries of an index and no row.
func (r *Of[T, ID, Owner]) Count(ctx context.Context, db onerow.DB, owner Owner, state schema.State, most int) (int, error) {
	if most <= 0 {
		return 0, fmt.Errorf("%w: a count of at most %d", ErrUnsupported, most)
	}
	if _, err := r.listQuery(state); err != nil {
		return 0, err
	}
	args, err := r.ownerKey(owner)
	if err == nil {
		err = r.forOwner(args)
	}
	if err != nil {
		return 0, r.wrap("count", nil, err)
	}
	query := r.sql.countActive
	if state == schema.Archived {
		query = r.sql.countArchived
	}
	var n int
	err = onerow.QueryRow(ctx, db, query, append(args, most), &n)
	return n, r.wrap("count", nil, err)
}
