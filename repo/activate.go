package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

// maxNames is how many names an activation tries: the first is its own, the second
// the highest copy number plus one, the rest come from others who do the same at
// the same time.
const maxNames = 100

// Activate moves an archived row back to the active table. It never fails because
// its name is taken meanwhile: the row is then renamed to "Name (Copy 1)",
// "Name (Copy 2)" and so on, and the unique index decides each try. The next
// number is the highest in use plus one, found by one look-up over the index
// (owner, stem_key, copy_no); so the number of statements does not grow with the
// number of copies. Activating what is active is a no-op.
//
// Errors means: [onerow.ErrNotFound], [ErrParentNotFound], [ErrIDReused] where the active
// table has another row of this id, [ErrNoFreeName] after 100 conflicts, the name errors of
// package schema when the copies are used up, [ErrConflict] where another unique index of
// the application's refuses the row under any name,
// [onerow.ErrOutcomeUnknown], after which it may simply be called again.
//
// Atomic: the move, the new name and the quota mark. Statements on a pool: BEGIN,
// SELECT, INSERT, DELETE, SELECT, mark, COMMIT, and one for a parent. That a name is taken
// is seen by the first SELECT; if it is taken only then, as is every further one, or in a
// joined transaction, it costs a ROLLBACK, the look-up and another try.
func (r *Of[T, ID, Owner]) Activate(ctx context.Context, db onerow.DB, rowID ID) (onerow.Result[T], error) {
	if r.res.Archive == "" {
		return onerow.Result[T]{}, fmt.Errorf("%w: %q has no archive", ErrUnsupported, r.res.Name)
	}
	id, err := r.key("activate", rowID)
	if err != nil {
		return onerow.Result[T]{}, err
	}
	var res onerow.Result[T]
	err = r.follow(ctx, db, func() (err error) {
		res, err = r.bringBack(ctx, db, "activate", id, func(ctx context.Context, tx *onerow.Tx) (back[T], error) {
			h, found, err := r.lockToActivate(ctx, tx, id)
			if err != nil {
				return back[T]{}, err
			}
			if !found || h.deletionID != 0 {
				res, err := r.alreadyIn(ctx, tx, r.active, id)
				return back[T]{answer: &res}, err
			}
			return back[T]{held: h}, nil
		})
		return err
	})
	return res, err
}

// back is what a verb that brings a row back found out first: the answer, if there
// is nothing to do, or else the locked row.
type back[T any] struct {
	answer *onerow.Result[T]
	held   held[T]
}

// nameBusy: a unique index refused the row, its name's or another one.
type nameBusy struct {
	attempt
	stem   string // of the names to try next
	copyNo int    // that was tried
	joined bool   // the transaction is the caller's
	err    error
}

func (e *nameBusy) Error() string { return "repo: a unique index refused the row: " + e.err.Error() }
func (e *nameBusy) Unwrap() error { return e.err }

// bringBack moves the row that find locked to the active table, under its own name
// or the next free copy of it.
func (r *tables[T]) bringBack(ctx context.Context, db onerow.DB, verb string, id any,
	find func(context.Context, *onerow.Tx) (back[T], error)) (onerow.Result[T], error) {
	return r.untilNamed(ctx, db, verb, id, func(ctx context.Context, tx *onerow.Tx, copyNo int) (res onerow.Result[T], err error) {
		b, err := find(ctx, tx)
		if err != nil {
			return res, err
		}
		if b.answer != nil {
			return *b.answer, nil
		}
		if res, err = r.moveToActive(ctx, tx, b.held, id, max(copyNo, b.held.copyNo)); err != nil {
			return res, err
		}
		if b.held.deletionID == 0 { // what a deletion hid has kept its room
			if err := r.take(ctx, tx, &b.held.row, b.held.owner, nil); err != nil {
				return res, err
			}
		}
		return res, r.mark(ctx, tx, b.held.owner)
	})
}

// untilNamed runs a verb that gives a row its own name (copyNo 0), and again with the next free copy of it
// while a unique index refuses that. After a conflict a transaction of our own is
// begun anew: the refused one holds a lock on the name that refused it, and two
// of these would wait for each other.
func (r *tables[T]) untilNamed(ctx context.Context, db onerow.DB, verb string, id any,
	try func(ctx context.Context, tx *onerow.Tx, copyNo int) (onerow.Result[T], error)) (onerow.Result[T], error) {
	var res onerow.Result[T]
	copyNo, unseen := 0, 0 // unseen tries were refused, and nobody is seen to be in their way
	for n := 1; ; n++ {
		err := r.followRowAtomically(ctx, db, verb, id, func(ctx context.Context, tx *onerow.Tx) (err error) {
			res, err = try(ctx, tx, copyNo)
			return err
		})
		var busy *nameBusy
		switch {
		case err == nil:
			return res, nil
		case !errors.As(err, &busy):
			return onerow.Result[T]{}, err
		case n == maxNames:
			return onerow.Result[T]{}, fmt.Errorf("%w for %s %s after %d tries; try again when fewer are named at once: %w", ErrNoFreeName, r.res.Name, r.show(id), maxNames, busy.err)
		}
		next, err := r.afterDuplicate(ctx, db, busy)
		var refused *duplicateError
		switch {
		case err == nil:
			copyNo, unseen = next, 0
		case errors.As(err, &refused) && unseen+1 < duplicates:
			unseen++
		case errors.As(err, &refused):
			return onerow.Result[T]{}, r.wrap(verb, id, &ConflictError{Resource: r.res.Name, ID: r.errorID(id), Attempts: n, Err: refused.err})
		default:
			return onerow.Result[T]{}, r.wrap(verb, id, err)
		}
	}
}

// lockToActivateSQL is lockArchived that also says whether an active row has the name, and the highest copy
// number of its stem: each one entry of an index, read from a snapshot, without a lock.
func (r *tables[T]) lockToActivateSQL() string {
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
		fmt.Sprintf("COALESCE((SELECT other.copy_no FROM %s AS other WHERE %s%s ORDER BY other.copy_no DESC LIMIT 1), 0)",
			r.active.table, owner.String(), same(schema.ColStemKey)))
}

// lockToActivate locks an archived row and finds the copy number to try first. That is a hint, the index
// decides. In the caller's transaction the snapshot may be old, so there its own name is tried first.
func (r *tables[T]) lockToActivate(ctx context.Context, tx *onerow.Tx, id any) (held[T], bool, error) {
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
func (r *tables[T]) moveToActive(ctx context.Context, tx *onerow.Tx, h held[T], id any, copyNo int) (res onerow.Result[T], err error) {
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
	res, err = r.after(ctx, tx, r.active, id, onerow.Stmt{Query: r.sql.toActive, Args: append(args, id), One: true}, r.remove(h, id))
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

// nameOf is the name of a locked row, or the copy of it, and the values of its columns; none where rows have
// no names.
func (r *tables[T]) nameOf(h held[T], copyNo int) (name names.Parsed, args []any, err error) {
	if !r.res.Named() {
		return name, nil, nil
	}
	if name, err = r.res.Label.Kind.Parse(h.label); err == nil && copyNo > 0 {
		name, err = name.WithCopy(copyNo)
	}
	return name, nameArgs(name), err
}

// busy is the refusal of a locked row that was to be written under the name of w, beside what else w says.
func (r *tables[T]) busy(tx *onerow.Tx, w attempt, copyNo int, err error) error {
	b := &nameBusy{attempt: w, copyNo: copyNo, joined: tx.Joined(), err: err}
	if !r.res.Named() {
		return b
	}
	b.columns, b.args, b.stem = append(b.columns, r.nameColumns()...), append(b.args, nameArgs(w.name)...), w.name.StemKey
	if copyNo == 0 {
		first, cerr := w.name.WithCopy(1)
		if cerr != nil {
			return cerr
		}
		b.stem = first.StemKey
	}
	return b
}

// afterDuplicate returns the copy number to try next: the highest in use plus one, by one
// statement over the index (owner, stem_key, copy_no), of which it reads one entry. If it
// is not the name that is taken it is a [ConflictError], or a duplicateError where nobody
// is in the way any more. In a joined transaction these are current reads.
func (r *tables[T]) afterDuplicate(ctx context.Context, db onerow.DB, busy *nameBusy) (int, error) {
	highest := busy.copyNo
	if r.res.Named() {
		query := r.sql.nextCopy
		if busy.joined {
			query = r.sql.nextCopyCurrent
		}
		var inUse, holder int64
		args := slices.Concat(busy.owner, []any{[]byte(busy.stem)}, busy.owner, []any{[]byte(busy.name.Key)})
		if err := onerow.QueryRow(ctx, db, query, args, &inUse, &holder); err != nil {
			return 0, err
		}
		if highest = max(highest, int(inUse)); holder != 0 {
			return highest + 1, nil
		}
	}
	err := r.taken(ctx, db, busy.attempt, busy.joined, busy.err)
	var conflict *ConflictError
	byName := func(column string) bool {
		return slices.ContainsFunc(r.nameColumns(), func(c string) bool { return strings.EqualFold(c, column) })
	}
	if errors.As(err, &conflict) && slices.ContainsFunc(conflict.Columns, byName) {
		return highest + 1, nil // another name may pass
	}
	return 0, err
}
