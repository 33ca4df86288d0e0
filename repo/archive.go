package repo

import (
	"context"
	"fmt"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/schema"
)

// Archive moves an active row to the archive table, where its name is free for others. The row keeps its id.
// Archiving what is archived is a no-op.
//
// The row is locked by its key, copied, and deleted where id and version are those that were read; at every
// commit it is in exactly one of the two tables. Errors: [onerow.ErrNotFound]; [ErrParentNotFound] where the
// row above is being deleted; [ErrIDReused] where the archive has another row of this id;
// [onerow.ErrOutcomeUnknown], after which it may simply be called again.
//
// Atomic: the move and the quota mark.
func (r *Of[T, ID, Owner]) Archive(ctx context.Context, db onerow.DB, id ID) (_ onerow.Result[T], err error) {
	ctx, span := r.untyped.start(ctx, "repo.Archive")
	defer span.End(&err)
	return answer[T](r.untyped.archive(ctx, db, id))
}

func (r *untyped) archive(ctx context.Context, db onerow.DB, id any) (result, error) {
	if r.res.Archive == "" {
		return result{}, fmt.Errorf("%w: %q has no archive", ErrUnsupported, r.res.Name)
	}
	c := r.call("archive", id)
	return r.run(ctx, db, c, func(ctx context.Context, tx *onerow.Tx) (res result, err error) {
		h, found, err := r.lock(ctx, tx, schema.Active, c.id)
		switch {
		case err != nil:
			return res, err
		case !found:
			return r.alreadyIn(ctx, tx, schema.Archived, c.id)
		}
		if res, err = r.moveAcross(ctx, tx, h, schema.Archived, c.id, r.copyToArchive(h, c.id, nil, nil)); err != nil {
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
const sqlToArchive = `{inUTC}INSERT INTO {archive} ({shared}, archived_at, deletion_id, deleted_from) SELECT {kept}, UTC_TIMESTAMP(6), ?, ? FROM {active} WHERE {byID}`

// copyToArchive copies a locked active row to the archive. deletionID and from are nil for a row that is
// merely archived.
func (r *untyped) copyToArchive(h lockedRow, id, deletionID, from any) onerow.Stmt {
	return guarded(r.copyText(sqlToArchive, id, h.odd), deletionID, from, id)
}

// copiedValues are the values of the columns that both tables have, in a row that changes its table: under
// its own name, and under the one that comes as four parameters. The flag "over quota" is not copied:
// archived rows do not count.
func (r *untyped) copiedValues() (kept, named string) {
	name := r.nameColumns()
	for i, column := range r.res.Shared() {
		value := ident.Quote(column)
		switch column {
		case r.res.Quota.Flag:
			value = "0"
		case ident.ColVersion:
			value = "version + 1"
		case ident.ColUpdatedAt:
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

// moveAcross locks the row above, copies a locked row to the table of another state, removes it from its own,
// and returns it as it is then. Affected rows are not counted: the read after them proves both writes, and
// sees whether it is still in the first table (lockedRow.twin), for a transaction sees its own writes in any
// snapshot.
func (r *untyped) moveAcross(ctx context.Context, tx *onerow.Tx, h lockedRow, to schema.State, id any, move onerow.Stmt) (result, error) {
	if err := r.refuseTwin(ctx, tx, h, id); err != nil {
		return result{}, err
	}
	if err := r.lockParent(ctx, tx, h.parent, true); err != nil {
		return result{}, err
	}
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

// Activate moves an archived row back to the active table. If its name is taken meanwhile, the row is renamed
// to "Name (Copy 1)", "Name (Copy 2)" and so on, and the unique index decides each try. The next number is
// the highest in use plus one, found by one look-up over the index (owner, stem_key, copy_no): the number of
// statements does not grow with the number of copies. Where somebody has typed the last number,
// names.MaxCopy, it is the highest below a number that is drawn. Activating what is active is a no-op.
//
// Errors: [onerow.ErrNotFound]; [ErrParentNotFound]; [ErrIDReused] where the active table has another row of
// this id; [ErrNoFreeName] after 100 conflicts, as where nearly all 999,999 copies are used; [ErrConflict]
// where another unique index of the application's refuses the row under any name; [onerow.ErrOutcomeUnknown],
// after which it may simply be called again.
//
// Atomic: the move, the new name and the quota mark. The first SELECT sees whether the name is taken. If it
// is taken after that, or in a joined transaction, each conflict costs a ROLLBACK, the look-up and another
// try.
func (r *Of[T, ID, Owner]) Activate(ctx context.Context, db onerow.DB, id ID) (_ onerow.Result[T], err error) {
	ctx, span := r.untyped.start(ctx, "repo.Activate")
	defer span.End(&err)
	return answer[T](r.untyped.activate(ctx, db, id))
}

func (r *untyped) activate(ctx context.Context, db onerow.DB, id any) (result, error) {
	if r.res.Archive == "" {
		return result{}, fmt.Errorf("%w: %q has no archive", ErrUnsupported, r.res.Name)
	}
	c := r.call("activate", id)
	return r.bringBack(ctx, db, c, func(ctx context.Context, tx *onerow.Tx) (back, error) {
		h, found, err := r.lockToActivate(ctx, tx, c.id)
		if err != nil {
			return back{}, err
		}
		if !found || h.deletionID != 0 {
			res, err := r.alreadyIn(ctx, tx, schema.Active, c.id)
			return back{answer: &res}, err
		}
		return back{held: h}, nil
	})
}

// back is what a verb that brings a row back found out first: the answer, if there
// is nothing to do, or else the locked row.
type back struct {
	answer *result
	held   lockedRow
}

// bringBack moves the row that find locked to the active table, under its own name
// or the next free copy of it.
func (r *untyped) bringBack(ctx context.Context, db onerow.DB, c call, find func(context.Context, *onerow.Tx) (back, error)) (result, error) {
	return r.underFreeName(ctx, db, c, func(ctx context.Context, tx *onerow.Tx, copyNo int) (res result, err error) {
		b, err := find(ctx, tx)
		if err != nil {
			return res, err
		}
		if b.answer != nil {
			return *b.answer, nil
		}
		if res, err = r.moveToActive(ctx, tx, b.held, c.id, b.held.copyToTry(copyNo)); err != nil {
			return res, err
		}
		if b.held.deletionID == 0 { // what a deletion hid has kept its room
			if err := r.take(ctx, tx, b.held.row, b.held.owner, nil); err != nil {
				return res, err
			}
		}
		return res, r.mark(ctx, tx, b.held.owner)
	})
}

// sqlLockToActivate is sqlLockArchived that also says whether an active row has the name, and the highest
// copy number of its stem below the last: one entry of an index and at most two, read from a
// snapshot, without a lock.
const sqlLockToActivate = `SELECT ` + lockedArchived + `, EXISTS (SELECT 1 FROM {active} AS other WHERE {sameOwner}other.{nameKey} = {archive}.{nameKey}),
  COALESCE((SELECT other.copy_no FROM {active} AS other WHERE {sameOwner}other.stem_key = {archive}.stem_key AND other.copy_no < {maxCopy}
    ORDER BY other.copy_no DESC LIMIT 1), 0)
  FROM {archive} WHERE {byID} FOR UPDATE`

// lockToActivate locks an archived row and finds the copy number to try first. That is a hint, the index
// decides. In the caller's transaction the snapshot may be old, so there its own name is tried first.
func (r *untyped) lockToActivate(ctx context.Context, tx *onerow.Tx, id any) (lockedRow, bool, error) {
	if !r.res.Named() {
		return r.lock(ctx, tx, schema.Archived, id)
	}
	var taken bool
	var highest int
	h, found, err := r.lockBy(ctx, tx, schema.Archived, sqlLockToActivate, id, nil, &taken, &highest)
	if taken && !tx.Joined() {
		h.copyNo = highest + 1
	}
	return h, found, err
}

// sqlToActive copies a row that is locked by its primary key; remove follows. The unique index (owner, name
// key) decides. Its parameters: the name's four columns, where there is a name, and the id.
const sqlToActive = `{inUTC}INSERT INTO {active} ({shared}) SELECT {named} FROM {archive} WHERE {byID}`

// moveToActive copies a locked archived row to the active table under its own
// name (copyNo 0) or as a copy, and removes it from the archive. It returns the row as it is then.
func (r *untyped) moveToActive(ctx context.Context, tx *onerow.Tx, h lockedRow, id any, copyNo int) (res result, err error) {
	name, args, err := r.nameOf(h, copyNo)
	if err != nil {
		return res, err
	}
	res, err = r.moveAcross(ctx, tx, h, schema.Active, id, guarded(r.copyText(sqlToActive, id, h.odd), append(args, id)...))
	if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return res, err
	}
	if tx.Joined() { // elsewhere the next try sees such a row; here the snapshot may be older than it
		if terr := r.twinError(ctx, tx, schema.Archived, id, err); terr != nil {
			return res, terr
		}
	}
	return res, r.nameRefused(tx, attempt{id: id, from: schema.Archived, owner: h.owner, name: name}, copyNo, err)
}
