package repo

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/names"
)

// maxNames is how many names an activation tries: the first is its own, the second the highest copy number
// plus one, the rest come from others who do the same at the same time.
const maxNames = 100

// nameRefusal: a unique index refused the row, its name's or another one.
type nameRefusal struct {
	attempt
	stem   string // of the names to try next
	copyNo int    // that was tried
	joined bool   // the transaction is the caller's
	err    error
}

func (e *nameRefusal) Error() string { return "repo: a unique index refused the row: " + e.err.Error() }
func (e *nameRefusal) Unwrap() error { return e.err }

// underFreeName runs a verb that gives a row its own name (copyNo 0), and again with the next free copy of it
// while a unique index refuses that. After a conflict a transaction of our own is begun anew: the refused one
// holds a lock on the name that refused it, and two of these would wait for each other.
func (r *untyped) underFreeName(ctx context.Context, db onerow.DB, c call, try func(ctx context.Context, tx *onerow.Tx, copyNo int) (result, error)) (result, error) {
	copyNo, unseen := 0, 0 // unseen tries were refused, and nobody is seen to be in their way
	for n := 1; ; n++ {
		res, err := r.run(ctx, db, c, func(ctx context.Context, tx *onerow.Tx) (result, error) { return try(ctx, tx, copyNo) })
		refusal, ok := errors.AsType[*nameRefusal](err)
		if !ok {
			return res, err
		}
		if n == maxNames {
			return result{}, errtext.Errorf("%w for %s %s after %d tries; try again when fewer are named at once: %w", ErrNoFreeName, r.res.Name, r.show(c.id), maxNames, refusal.err)
		}
		next, err := r.nextName(ctx, db, refusal)
		duplicate, noHolder := errors.AsType[*duplicateError](err)
		switch {
		case err == nil:
			copyNo, unseen = next, 0
			continue
		case noHolder && unseen+1 < maxDuplicates:
			unseen++
			continue
		case noHolder:
			err = &ConflictError{Resource: r.res.Name, ID: r.typed(c.id), Attempts: n, Err: duplicate.err}
		}
		return result{}, r.wrap(c.verb, c.id, err)
	}
}

// nameOf is the name of a locked row, or the copy of it, and the values of its columns; none where rows have
// no names.
func (r *untyped) nameOf(h lockedRow, copyNo int) (name names.Parsed, args []any, err error) {
	if !r.res.Named() {
		return name, nil, nil
	}
	if name, err = r.res.Label.Kind.Parse(h.label); err == nil && copyNo > 0 {
		name, err = name.WithCopy(copyNo)
	}
	return name, nameArgs(name), err
}

// nameRefused is the refusal of a locked row that was to be written under the name of w, beside what else w
// says.
func (r *untyped) nameRefused(tx *onerow.Tx, w attempt, copyNo int, err error) error {
	b := &nameRefusal{attempt: w, copyNo: copyNo, joined: tx.Joined(), err: err}
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

// copyToTry is the copy number that was found free, or the one behind the highest that was seen with the row.
func (h lockedRow) copyToTry(found int) int {
	if found > 0 && h.copyNo == names.MaxCopy { // what was drawn is below the highest
		return found
	}
	return max(found, h.copyNo)
}

// sqlNextCopy finds the highest copy number of a stem below one, and whether the name is taken, by one entry
// each of the indexes (owner, stem_key, copy_no) and (owner, name key).
const sqlNextCopy = `SELECT COALESCE((SELECT copy_no FROM {active} WHERE {ownerIs} AND stem_key = ? AND copy_no < ? ORDER BY copy_no DESC LIMIT 1{lock}), 0),
  COALESCE((SELECT 1 FROM {active} WHERE {ownerIs} AND {nameKey} = ?{lock}), 0)`

// nextName returns the copy number to try next: the highest in use plus one, by one statement over the index
// (owner, stem_key, copy_no), of which it reads one entry. Behind the last number there is none: then it is
// what follows the highest below a number that is drawn, free unless nearly all are used. If it is not the
// name that is taken it is a [ConflictError], or a duplicateError where nobody is in the way any more. In a
// joined transaction these are current reads.
func (r *untyped) nextName(ctx context.Context, db onerow.DB, refusal *nameRefusal) (int, error) {
	next, below := 0, names.MaxCopy
	if refusal.copyNo == names.MaxCopy { // anybody may have typed it: the numbers below are as good as free
		below = 1 + rand.IntN(names.MaxCopy) //nolint:gosec // nobody gains by guessing it
	}
	if r.res.Named() {
		lock := ""
		if refusal.joined {
			lock = shared
		}
		var inUse, holder int64
		args := slices.Concat(refusal.owner, []any{[]byte(refusal.stem), below}, refusal.owner, []any{[]byte(refusal.name.Key)})
		if err := onerow.QueryRow(ctx, db, r.locked(sqlNextCopy, lock), args, &inUse, &holder); err != nil {
			return 0, err
		}
		if next = int(inUse) + 1; refusal.copyNo < names.MaxCopy {
			next = max(next, refusal.copyNo+1)
		}
		if holder != 0 {
			return next, nil
		}
	}
	err := r.conflict(ctx, db, refusal.attempt, refusal.joined, refusal.err)
	byName := func(column string) bool {
		return slices.ContainsFunc(r.nameColumns(), func(c string) bool { return strings.EqualFold(c, column) })
	}
	if conflict, ok := errors.AsType[*ConflictError](err); ok && slices.ContainsFunc(conflict.Columns, byName) {
		return next, nil // another name may pass
	}
	return 0, err
}
