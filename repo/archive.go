package repo

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/names"
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
	return answer[T](r.tables.archiveRow(ctx, db, id))
}

// archiveRow is Archive for rows of any type.
func (r *tables) archiveRow(ctx context.Context, db onerow.DB, rowID any) (res result, err error) {
	if r.res.Archive == "" {
		return res, fmt.Errorf("%w: %q has no archive", ErrUnsupported, r.res.Name)
	}
	id, err := r.key("archive", rowID)
	if err != nil {
		return res, err
	}
	err = r.followRowAtomically(ctx, db, "archive", id, func(ctx context.Context, tx *onerow.Tx) error {
		h, found, err := r.lock(ctx, tx, r.active, id)
		if err != nil {
			return err
		}
		if !found {
			res, err = r.alreadyIn(ctx, tx, r.archive, id)
			return err
		}
		if err := r.single(ctx, tx, h, id); err != nil {
			return err
		}
		if err := r.lockParent(ctx, tx, h.parent, true); err != nil {
			return err
		}
		if res, err = r.across(ctx, tx, h, r.archive, id, r.toArchive(id, nil, nil)); err != nil {
			return r.twinFirst(ctx, tx, r.active, id, err)
		}
		if err := r.give(ctx, tx, &h); err != nil {
			return err
		}
		return r.mark(ctx, tx, h.owner)
	})
	if err != nil {
		return result{}, err
	}
	return res, nil
}

// archiveStatements take a row from table to table.
type archiveStatements struct{ toArchive, toActive, lockToActivate string }

func (r *tables) archiveStatements() (q archiveStatements) {
	if r.res.Archive != "" {
		q.lockToActivate = r.lockToActivateSQL()
		q.toArchive, q.toActive = r.moveSQL()
	}
	return q
}

// moveSQL copies a row, locked before, to the other table. Both are followed by
// a DELETE, see remove. toArchive takes the
// deletion's id and origin (NULL, NULL: merely archived) and the id; toActive
// takes the name's four columns, where there is a name, and the id. The flag
// "over quota" is not copied: archived rows do not count.
func (r *tables) moveSQL() (toArchive, toActive string) {
	var cols, plain, named []string
	for _, col := range r.res.Shared() {
		value := ident.Quote(col)
		cols = append(cols, value)
		switch col {
		case r.res.Quota.Flag:
			value = "0"
		case schema.ColVersion:
			value = "version + 1"
		case schema.ColUpdatedAt:
			value = "UTC_TIMESTAMP(6)"
		}
		plain = append(plain, value)
		switch col {
		case r.res.Label.Column, r.res.Label.Key:
			value = "?"
		case schema.ColStemKey, schema.ColCopyNo:
			if r.res.Named() {
				value = "?"
			}
		}
		named = append(named, value)
	}
	toArchive = fmt.Sprintf("INSERT INTO %s (%s, archived_at, deletion_id, deleted_from) SELECT %s, UTC_TIMESTAMP(6), ?, ? FROM %s WHERE %s",
		r.archive.table, strings.Join(cols, ", "), strings.Join(plain, ", "), r.active.table, r.byID())
	toActive = fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s WHERE %s",
		r.active.table, strings.Join(cols, ", "), strings.Join(named, ", "), r.archive.table, r.byID())
	return r.inUTC(toArchive), r.inUTC(toActive)
}

// toArchive copies a locked active row to the archive. deletionID and from are nil for a row that is merely
// archived.
func (r *tables) toArchive(id any, deletionID, from any) onerow.Stmt {
	return onerow.Stmt{Query: r.sql.toArchive, Args: []any{deletionID, from, id}, One: true}
}

// across copies a locked row to the other side, removes it from its own, and returns it as it is then. That
// each met one row is not counted: the look behind them finds the row, and sees whether it is still on the
// first side ([tables.twinColumn]), for a transaction sees its own writes in any snapshot.
func (r *tables) across(ctx context.Context, tx *onerow.Tx, h held, to side, id any, move onerow.Stmt) (result, error) {
	remove := r.remove(h, id)
	move.One, remove.One = false, false
	now, found, err := r.lock(ctx, tx, to, id, move, remove)
	if err == nil && (!found || now.twin) {
		err = errMoved
	}
	return result{row: now.row, changed: true}, err
}

// twinFirst is the error of a move: where a row was in its way, the one of the same id on the other side.
func (r *tables) twinFirst(ctx context.Context, tx *onerow.Tx, from side, id any, err error) error {
	if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return err
	}
	return cmp.Or(r.twin(ctx, tx, from, id, err), err)
}

// after runs the writes of a verb, and is its answer: the row as it is then, read by its key.
func (r *tables) after(ctx context.Context, tx *onerow.Tx, s side, id any, writes ...onerow.Stmt) (result, error) {
	h, found, err := r.lock(ctx, tx, s, id, writes...)
	if err == nil && !found {
		err = errMoved
	}
	return result{row: h.row, changed: true}, err
}

// alreadyIn answers a move whose source side does not have the row: it is where
// it should go (a success that changes nothing), hidden, gone, or on its way.
func (r *tables) alreadyIn(ctx context.Context, tx *onerow.Tx, s side, id any) (result, error) {
	place, err := r.where(ctx, tx, id)
	if err != nil {
		return result{}, err
	}
	switch schema.State(place) {
	case s.state:
		h, found, err := r.lock(ctx, tx, s, id)
		if err == nil && (!found || h.deletionID != 0) {
			err = errMoved
		}
		return result{row: h.row}, err
	case schema.Active, schema.Archived:
		return result{}, errMoved
	}
	return result{}, onerow.ErrNotFound
}

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
	return answer[T](r.tables.activateRow(ctx, db, id))
}

// activateRow is Activate for rows of any type.
func (r *tables) activateRow(ctx context.Context, db onerow.DB, rowID any) (res result, err error) {
	if r.res.Archive == "" {
		return result{}, fmt.Errorf("%w: %q has no archive", ErrUnsupported, r.res.Name)
	}
	id, err := r.key("activate", rowID)
	if err != nil {
		return result{}, err
	}
	err = r.follow(ctx, db, func() (err error) {
		res, err = r.bringBack(ctx, db, "activate", id, func(ctx context.Context, tx *onerow.Tx) (back, error) {
			h, found, err := r.lockToActivate(ctx, tx, id)
			if err != nil {
				return back{}, err
			}
			if !found || h.deletionID != 0 {
				res, err := r.alreadyIn(ctx, tx, r.active, id)
				return back{answer: &res}, err
			}
			return back{held: h}, nil
		})
		return err
	})
	return res, err
}

// back is what a verb that brings a row back found out first: the answer, if there
// is nothing to do, or else the locked row.
type back struct {
	answer *result
	held   held
}

// bringBack moves the row that find locked to the active table, under its own name
// or the next free copy of it.
func (r *tables) bringBack(ctx context.Context, db onerow.DB, verb string, id any,
	find func(context.Context, *onerow.Tx) (back, error)) (result, error) {
	return r.untilNamed(ctx, db, verb, id, func(ctx context.Context, tx *onerow.Tx, copyNo int) (res result, err error) {
		b, err := find(ctx, tx)
		if err != nil {
			return res, err
		}
		if b.answer != nil {
			return *b.answer, nil
		}
		if res, err = r.moveToActive(ctx, tx, b.held, id, b.held.copyToTry(copyNo)); err != nil {
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

// lockToActivateSQL is lockArchived that also says whether an active row has the name, and the highest copy
// number of its stem below the last: one entry of an index and at most two, read from a snapshot, without a
// lock.
func (r *tables) lockToActivateSQL() string {
	if !r.res.Named() {
		return r.lockSQL(r.archive, "0", "0")
	}
	same := func(column string) string {
		return fmt.Sprintf("other.%s = %s.%[1]s", ident.Quote(column), r.archive.table)
	}
	var owner strings.Builder
	for _, column := range r.res.Owners() {
		owner.WriteString(same(column) + " AND ")
	}
	return r.lockSQL(r.archive,
		fmt.Sprintf("EXISTS (SELECT 1 FROM %s AS other WHERE %s%s)", r.active.table, owner.String(), same(r.res.Label.Key)),
		fmt.Sprintf("COALESCE((SELECT other.copy_no FROM %s AS other WHERE %s%s AND other.copy_no < %d ORDER BY other.copy_no DESC LIMIT 1), 0)",
			r.active.table, owner.String(), same(schema.ColStemKey), names.MaxCopy))
}

// lockToActivate locks an archived row and finds the copy number to try first. That is a hint, the index
// decides. In the caller's transaction the snapshot may be old, so there its own name is tried first.
func (r *tables) lockToActivate(ctx context.Context, tx *onerow.Tx, id any) (held, bool, error) {
	var taken bool
	var highest int
	h, found, err := r.lockBy(ctx, tx, r.archive, r.sql.lockToActivate, id, nil, &taken, &highest)
	if taken && !tx.Joined() {
		h.copyNo = highest + 1
	}
	return h, found, err
}

// moveToActive copies a locked archived row to the active table under its own
// name (copyNo 0) or as a copy, and removes it from the archive. It returns the row as it is then.
func (r *tables) moveToActive(ctx context.Context, tx *onerow.Tx, h held, id any, copyNo int) (res result, err error) {
	if err := r.single(ctx, tx, h, id); err != nil {
		return res, err
	}
	if err := r.lockParent(ctx, tx, h.parent, true); err != nil {
		return res, err
	}
	name, args, err := r.nameOf(h, copyNo)
	if err != nil {
		return res, err
	}
	res, err = r.across(ctx, tx, h, r.active, id, onerow.Stmt{Query: r.sql.toActive, Args: append(args, id)})
	if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return res, err
	}
	if tx.Joined() { // elsewhere the next try sees such a row; here the snapshot may be older than it
		if terr := r.twin(ctx, tx, r.archive, id, err); terr != nil {
			return res, terr
		}
	}
	return res, r.busy(tx, attempt{id: id, from: r.archive.table, owner: h.owner, name: name}, copyNo, err)
}
