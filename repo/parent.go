package repo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/keytype"
)

// lockParent takes a share lock on the row above, so that it cannot be deleted before this transaction ends:
// with the cascade, which locks a parent before it deletes it, this keeps children from slipping in below a
// dying one. A new child needs an active parent, or an archived one where the plan says so; a child that
// moves between its tables accepts both. The tenant of a new child is its parent's too. One statement, up to
// two per try where the parent is not active.
func (r *tables[T]) lockParent(ctx context.Context, tx *onerow.Tx, parent any, archivedToo bool, tenant ...any) error {
	if r.parent.Name == "" {
		return nil
	}
	queries := []string{r.sql.parentCreate}
	switch {
	case archivedToo && r.sql.parentArchived != "":
		queries = []string{r.sql.parentActive, r.sql.parentArchived}
	case archivedToo:
		queries[0] = r.sql.parentActive
	case r.res.Parent.Archived && r.sql.parentArchived != "":
		queries = append(queries, r.sql.parentCreateArchived)
	}
	for range asks {
		for _, query := range queries {
			var one int
			err := onerow.QueryRow(ctx, tx, query, append([]any{parent}, tenant...), &one)
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		if len(queries) == 1 {
			break
		}
	}
	return r.noParent(ctx, tx, append([]any{parent}, tenant...), archivedToo)
}

// noParent says why the row above does not do. One statement, where it may be in the archive.
func (r *tables[T]) noParent(ctx context.Context, tx *onerow.Tx, args []any, archivedToo bool) error {
	if !archivedToo && r.sql.parentArchived != "" && !r.res.Parent.Archived {
		err := onerow.QueryRow(ctx, tx, r.sql.parentCreateArchived, args, new(int))
		if err == nil {
			return fmt.Errorf("%w: %s %s; activate it first, or let the plan say that rows may be made there (parent: archived)",
				ErrParentArchived, r.parent.Name, keytype.Show(args[0]))
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return fmt.Errorf("%w: no %s has the id %s", ErrParentNotFound, r.parent.Name, keytype.Show(args[0]))
}

// withTenant says whether a new row and the row above it have the same tenant column.
func (r *tables[T]) withTenant() bool {
	tenant := r.res.TenantColumn()
	return tenant != "" && tenant == r.parent.TenantColumn() && tenant != r.res.Parent.Column
}
