package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/schema"
)

// names is how many names an activation tries: the first is its own, the second
// the highest copy number plus one, the rest come from others who do the same at
// the same time.
const names = 100

// Activate moves an archived row back to the active table. It never fails because
// its name is taken meanwhile: the row is then renamed to "Name (Copy 1)",
// "Name (Copy 2)" and so on, and the unique index decides each try. The next
// number is the highest in use plus one, found by one look-up over the index
// (owner, stem_key, copy_no); so the number of statements does not grow with the
// number of copies. Activating what is active is a success that changes nothing.
//
// Errors means: [onerow.ErrNotFound], [ErrParentNotFound], [ErrIDReused] where the active
// table has another row of this id, [ErrNoFreeName] after 100
// conflicts, the name errors of package schema when the copies are used up,
// [onerow.ErrOutcomeUnknown], after which it may simply be called again.
//
// Atomic: the move, the new name and the quota mark. Statements on a pool: BEGIN,
// SELECT, INSERT, DELETE, mark, SELECT, COMMIT, and one for a parent. A taken name
// costs a ROLLBACK, the look-up and a second try; every further conflict one try.
func (r *Repo[T]) Activate(ctx context.Context, db onerow.DB, id int64) (onerow.Result[T], error) {
	if r.res.Archive == "" {
		return onerow.Result[T]{}, fmt.Errorf("%w: %q has no archive", ErrUnsupported, r.res.Name)
	}
	return r.bringBack(ctx, db, "activate", id, func(ctx context.Context, tx *onerow.Tx) (back[T], error) {
		h, found, err := r.lock(ctx, tx, r.archive, id)
		if err != nil {
			return back[T]{}, err
		}
		if !found || h.deletionID != 0 {
			res, err := r.alreadyIn(ctx, tx, r.active, id)
			return back[T]{answer: &res}, err
		}
		return back[T]{held: h}, nil
	})
}

// back is what a verb that brings a row back found out first: the answer, if there
// is nothing to do, or else the locked row.
type back[T any] struct {
	answer *onerow.Result[T]
	held   held[T]
}

// nameBusy: the name that was tried is taken.
type nameBusy struct {
	owner  int64
	stem   string // of the names to try next
	name   schema.ParsedName
	joined bool // the transaction is the caller's
	err    error
}

func (e *nameBusy) Error() string { return "repo: the name is taken: " + e.err.Error() }
func (e *nameBusy) Unwrap() error { return e.err }

// bringBack moves the row that find locked to the active table, under its own name
// or the next free copy of it. After a conflict a transaction of our own is
// begun anew: the refused one holds a lock on the name that refused it, and two
// of these would wait for each other.
func (r *Repo[T]) bringBack(ctx context.Context, db onerow.DB, verb string, id int64,
	find func(context.Context, *onerow.Tx) (back[T], error)) (onerow.Result[T], error) {
	var res onerow.Result[T]
	copyNo := 0
	for n := 1; ; n++ {
		err := r.whole(ctx, db, verb, id, func(ctx context.Context, tx *onerow.Tx) error {
			b, err := find(ctx, tx)
			if err != nil {
				return err
			}
			if b.answer != nil {
				res = *b.answer
				return nil
			}
			if err := r.moveToActive(ctx, tx, b.held, id, copyNo); err != nil {
				return err
			}
			res, err = r.after(ctx, tx, r.active, id)
			return err
		})
		var busy *nameBusy
		switch {
		case err == nil:
			return res, nil
		case !errors.As(err, &busy):
			return onerow.Result[T]{}, err
		case n == names:
			return onerow.Result[T]{}, r.noFreeName(ctx, db, id, busy)
		case copyNo == 0:
			if copyNo, err = r.nextCopy(ctx, db, busy); err != nil {
				return onerow.Result[T]{}, r.wrap(verb, id, err)
			}
		default:
			copyNo++
		}
	}
}

// moveToActive copies a locked archived row to the active table under its own
// name (copyNo 0) or as a copy, removes it from the archive and marks the quota.
func (r *Repo[T]) moveToActive(ctx context.Context, tx *onerow.Tx, h held[T], id int64, copyNo int) error {
	if err := r.single(ctx, tx, h, id); err != nil {
		return err
	}
	if err := r.lockParent(ctx, tx, h.parent, true); err != nil {
		return err
	}
	var args []any
	var name schema.ParsedName
	if r.res.Named() {
		var err error
		if name, err = r.res.Label.Kind.Parse(h.label); err != nil {
			return err
		}
		if copyNo > 0 {
			if name, err = name.WithCopy(copyNo); err != nil {
				return err
			}
		}
		args = nameArgs(name)
	}
	err := r.one(onerow.Affected(ctx, tx, r.sql.toActive, append(args, id)...))
	if mysqlerr.Classify(err) == mysqlerr.Duplicate && (tx.Joined() || !r.res.Named()) {
		// Elsewhere the next try sees such a row. Here the snapshot may be older than it.
		err = cmp.Or(r.twin(ctx, tx, r.archive, id, err), err)
	}
	if mysqlerr.Classify(err) == mysqlerr.Duplicate && r.res.Named() {
		stem := name
		if copyNo == 0 {
			first, cerr := name.WithCopy(1)
			if cerr != nil {
				return cerr
			}
			stem = first
		}
		return &nameBusy{owner: h.owner, stem: stem.StemKey, name: name, joined: tx.Joined(), err: err}
	}
	if err != nil {
		return err
	}
	if err := r.remove(ctx, tx, h, id); err != nil {
		return err
	}
	return r.mark(ctx, tx, h.owner)
}

// nextCopy returns the highest copy number in use plus one: one statement, over
// the index (owner, stem_key, copy_no), of which it reads one entry. In a joined
// transaction it is a current read.
func (r *Repo[T]) nextCopy(ctx context.Context, db onerow.DB, busy *nameBusy) (int, error) {
	query := r.sql.nextCopy
	if busy.joined {
		query += " LOCK IN SHARE MODE"
	}
	var highest int
	err := onerow.QueryRow(ctx, db, query, []any{busy.owner, []byte(busy.stem)}, &highest)
	if isNoRows(err) {
		return 1, nil
	}
	return highest + 1, err
}

// noFreeName tells names that are taken from another unique index of the
// application's that refuses the row under any name: then nobody has the last one.
func (r *Repo[T]) noFreeName(ctx context.Context, db onerow.DB, id int64, busy *nameBusy) error {
	holder, err := r.holder(ctx, db, busy.owner, busy.name)
	switch {
	case err != nil:
		return r.wrap("activate", id, err)
	case holder == 0:
		return &ConflictError{Resource: r.res.Name, ID: id, Attempts: names, Err: busy.err}
	}
	return fmt.Errorf("%w for %s %d after %d tries; try again when fewer are activated at once: %w", ErrNoFreeName, r.res.Name, id, names, busy.err)
}
