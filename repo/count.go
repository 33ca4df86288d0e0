package repo

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
)

// Count is how many rows the list of these options has, from its beginning whatever page they name: at most
// this many, for a page that says "500+". An answer of most means that there may be more. It counts what
// [Of.List] lists and refuses what it refuses. One statement, which reads that many entries of the list's
// index, with both states twice as many, and no row; see List for MariaDB.
func (r *Of[T, ID, Owner]) Count(ctx context.Context, db onerow.DB, owner Owner, o PageOptions, most int) (int, error) {
	return r.tables.countRows(ctx, db, owner, o, most)
}

// countRows is Count for rows of any type.
func (r *tables) countRows(ctx context.Context, db onerow.DB, owner any, o PageOptions, most int) (int, error) {
	if most <= 0 {
		return 0, fmt.Errorf("%w: a count of at most %d", ErrUnsupported, most)
	}
	l, err := r.listing(owner, o)
	if err != nil {
		return 0, r.wrapList("count", err)
	}
	var n int
	err = l.run(func(force bool) error {
		query, args := r.countSQL(l, most, force)
		return onerow.QueryRow(ctx, db, query, args, &n)
	})
	return min(n, most), r.wrapList("count", err)
}
