package repo

import (
	"context"
	"fmt"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// Archive moves an active row to the archive table, where its name is free for
// others. The row keeps its id. Archiving what is archived is a
// no-op.
//
// The row is locked by its key, copied, and deleted where id and version are those
// that were read; at every commit it is in exactly one of the two tables. Errors:
// [onerow.ErrNotFound]; [ErrParentNotFound] where the row above is being deleted;
// [ErrIDReused] where the archive has another row of this id;
// [onerow.ErrOutcomeUnknown], after which it may simply be called again.
//
// Atomic: the move and the quota mark. Statements on a pool: BEGIN, SELECT, INSERT,
// DELETE, SELECT, mark, COMMIT, and one for a parent; 5 when the row is archived already.
func (r *Of[T, ID, Owner]) Archive(ctx context.Context, db onerow.DB, id ID) (onerow.Result[T], error) {
	return answer[T](r.archive(ctx, db, id))
}

func (r *untyped) archive(ctx context.Context, db onerow.DB, id any) (result, error) {
	if r.res.Archive == "" {
		return result{}, fmt.Errorf("%w: %q has no archive", ErrUnsupported, r.res.Name)
	}
	c, err := r.call("archive", id)
	if err != nil {
		return result{}, err
	}
	return r.run(ctx, db, c, func(ctx context.Context, tx *onerow.Tx) (res result, err error) {
		h, found, err := r.lock(ctx, tx, schema.Active, c.id)
		switch {
		case err != nil:
			return res, err
		case !found:
			return r.alreadyIn(ctx, tx, schema.Archived, c.id)
		}
		if err := r.refuseTwin(ctx, tx, h, c.id); err != nil {
			return res, err
		}
		if err := r.lockParent(ctx, tx, h.parent, true); err != nil {
			return res, err
		}
		if res, err = r.moveAcross(ctx, tx, h, schema.Archived, c.id, r.toArchive(c.id, nil, nil)); err != nil {
			return res, r.twinFirst(ctx, tx, c.id, err)
		}
		if err := r.give(ctx, tx, &h); err != nil {
			return res, err
		}
		return res, r.mark(ctx, tx, h.owner)
	})
}

// sqlToArchive copies a row that is locked by its primary key; remove follows. Its parameters: the deletion
// that hides it and where it was, or NULLs where it is merely archived; the id.
const sqlToArchive = `INSERT INTO {archive} ({shared}, archived_at, deletion_id, deleted_from) SELECT {kept}, UTC_TIMESTAMP(6), ?, ? FROM {active} WHERE {byID}`

// toArchive copies a locked active row to the archive. deletionID and from are nil for a row that is merely
// archived.
func (r *untyped) toArchive(id any, deletionID, from any) onerow.Stmt {
	return onerow.Stmt{Query: r.textInUTC(sqlToArchive), Args: []any{deletionID, from, id}, One: true}
}

// copied are the values of the columns that both tables have, in a row that changes its table: under its own
// name, and under the one that comes as four parameters. The flag "over quota" is not copied: archived rows
// do not count.
func (r *untyped) copied() (kept, named string) {
	name := r.nameColumns()
	for i, column := range r.res.Shared() {
		value := ident.Quote(column)
		switch column {
		case r.res.Quota.Flag:
			value = "0"
		case schema.ColVersion:
			value = "version + 1"
		case schema.ColUpdatedAt:
			value = "UTC_TIMESTAMP(6)"
		}
		if i > 0 {
			kept, named = kept+", ", named+", "
		}
		kept += value
		if slices.Contains(name, column) {
			value = "?"
		}
		named += value
	}
	return kept, named
}

// moveAcross copies a locked row to the table of another state, removes it from its own, and returns it as it
// is then. That each met one row is not counted: the look behind them finds the row, and sees whether it is
// still in the first table (held.twin), for a transaction sees its own writes in any snapshot.
func (r *untyped) moveAcross(ctx context.Context, tx *onerow.Tx, h held, to schema.State, id any, move onerow.Stmt) (result, error) {
	remove := r.remove(h, id)
	move.One, remove.One = false, false
	now, found, err := r.lock(ctx, tx, to, id, move, remove)
	if err == nil && (!found || now.twin) {
		err = errMoved
	}
	return result{row: now.row, changed: true}, err
}

// alreadyIn answers a move to the table of a state whose source does not have the row: it is where it should
// go (a success that changes nothing), hidden, gone, or on its way.
func (r *untyped) alreadyIn(ctx context.Context, tx *onerow.Tx, state schema.State, id any) (result, error) {
	place, err := r.where(ctx, tx, id)
	if err != nil {
		return result{}, err
	}
	switch schema.State(place) {
	case state:
		h, found, err := r.lock(ctx, tx, state, id)
		if err == nil && (!found || h.deletionID != 0) {
			err = errMoved
		}
		return result{row: h.row}, err
	case schema.Active, schema.Archived:
		return result{}, errMoved
	}
	return result{}, onerow.ErrNotFound
}
