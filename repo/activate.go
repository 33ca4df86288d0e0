package repo

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/schema"
)

// Activate moves an archived row back to the active table. It never fails because
// its name is taken meanwhile: the row is then renamed to "Name (Copy 1)",
// "Name (Copy 2)" and so on, and the unique index decides each try. The next
// number is the highest in use plus one, found by one look-up over the index
// (owner, stem_key, copy_no); so the number of statements does not grow with the
// number of copies. Where somebody has typed the last number, names.MaxCopy, it is the
// highest below a number that is drawn. Activating what is active is a no-op.
//
// Errors means: [onerow.ErrNotFound], [ErrParentNotFound], [ErrIDReused] where the active
// table has another row of this id, [ErrNoFreeName] after 100 conflicts, as where nearly
// all 999,999 copies are used, [ErrConflict] where another unique index of
// the application's refuses the row under any name,
// [onerow.ErrOutcomeUnknown], after which it may simply be called again.
//
// Atomic: the move, the new name and the quota mark. Statements on a pool: BEGIN,
// SELECT, INSERT, DELETE, SELECT, mark, COMMIT, and one for a parent. The first SELECT sees
// whether the name is taken. If it is taken after that, or in a joined transaction, each
// conflict costs a ROLLBACK, the look-up and another try.
func (r *Of[T, ID, Owner]) Activate(ctx context.Context, db onerow.DB, id ID) (onerow.Result[T], error) {
	return answer[T](r.activate(ctx, db, id))
}

func (r *untyped) activate(ctx context.Context, db onerow.DB, id any) (result, error) {
	if r.res.Archive == "" {
		return result{}, fmt.Errorf("%w: %q has no archive", ErrUnsupported, r.res.Name)
	}
	c, err := r.call("activate", id)
	if err != nil {
		return result{}, err
	}
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
	held   held
}

// bringBack moves the row that find locked to the active table, under its own name
// or the next free copy of it.
func (r *untyped) bringBack(ctx context.Context, db onerow.DB, c call, find func(context.Context, *onerow.Tx) (back, error)) (result, error) {
	return r.untilNamed(ctx, db, c, func(ctx context.Context, tx *onerow.Tx, copyNo int) (res result, err error) {
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
func (r *untyped) lockToActivate(ctx context.Context, tx *onerow.Tx, id any) (held, bool, error) {
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

// sameOwner is the condition that an active row, AS other, is of an archived row's owner.
func (r *untyped) sameOwner() (conditions string) {
	for _, column := range r.res.Owners() {
		conditions += fmt.Sprintf("other.%s = %s.%[1]s AND ", ident.Quote(column), ident.Quote(r.res.Archive))
	}
	return conditions
}

// sqlToActive copies a row that is locked by its primary key; remove follows. The unique index (owner, name
// key) decides. Its parameters: the name's four columns, where there is a name, and the id.
const sqlToActive = `INSERT INTO {active} ({shared}) SELECT {named} FROM {archive} WHERE {byID}`

// moveToActive copies a locked archived row to the active table under its own
// name (copyNo 0) or as a copy, and removes it from the archive. It returns the row as it is then.
func (r *untyped) moveToActive(ctx context.Context, tx *onerow.Tx, h held, id any, copyNo int) (res result, err error) {
	if err := r.refuseTwin(ctx, tx, h, id); err != nil {
		return res, err
	}
	if err := r.lockParent(ctx, tx, h.parent, true); err != nil {
		return res, err
	}
	name, args, err := r.nameOf(h, copyNo)
	if err != nil {
		return res, err
	}
	res, err = r.moveAcross(ctx, tx, h, schema.Active, id, onerow.Stmt{Query: r.textInUTC(sqlToActive), Args: append(args, id)})
	if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return res, err
	}
	if tx.Joined() { // elsewhere the next try sees such a row; here the snapshot may be older than it
		if terr := r.twinError(ctx, tx, schema.Archived, id, err); terr != nil {
			return res, terr
		}
	}
	return res, r.busy(tx, attempt{id: id, from: schema.Archived, owner: h.owner, name: name}, copyNo, err)
}
