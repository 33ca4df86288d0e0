package repo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
)

// lockParent takes a share lock on the row above, so that it cannot be deleted
// before this transaction ends: with the cascade, which locks a parent before it
// deletes it, this keeps children from slipping in below a dying one. A new child
// needs an active parent; a child that merely moves between its tables also
// accepts an archived one. One statement, up to two per try where the parent is
// not active.
func (r *Repo[T]) lockParent(ctx context.Context, tx *onerow.Tx, parent int64, archivedToo bool) error {
	if r.parent.Name == "" {
		return nil
	}
	queries := []string{r.sql.parentCreate}
	if archivedToo {
		queries[0] = r.sql.parentActive
	}
	if archivedToo && r.sql.parentArchived != "" {
		queries = append(queries, r.sql.parentArchived)
	}
	for range asks {
		for _, query := range queries {
			var one int
			err := onerow.QueryRow(ctx, tx, query, []any{parent}, &one)
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		if len(queries) == 1 {
			break
		}
	}
	return fmt.Errorf("%w: no %s has the id %d", ErrParentNotFound, r.parent.Name, parent)
}
