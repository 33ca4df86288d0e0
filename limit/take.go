package limit

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/recount"
)

// sqlTake decides: by the primary key, one row, which stays locked until COMMIT. It is the last thing that a
// verb locks.
const sqlTake = `UPDATE onerow_limit SET room = room - ? WHERE name = ? AND owner = ? AND stripe = ? AND room >= ?`

// Take takes an amount of the owner's room in the transaction of a verb that has written its row before: it
// refuses with [ErrLimit] in a transaction of the caller's, and ends one of the verb's own for [Follow],
// which must run the verb then. owner are the values of the limit's columns. Repositories call it, see
// repo.NewOf. Statements: 1; 2 more, or 4, where the room has to be dealt anew.
func (r *Rule) Take(ctx context.Context, tx *onerow.Tx, amount int64, owner ...any) error {
	o, err := r.amountOf(amount, owner)
	if err != nil || amount == 0 {
		return err
	}
	n, err := onerow.Affected(ctx, tx, sqlTake, amount, r.name, []byte(o.Key), r.guess(o.Key), amount)
	if err != nil || n == 1 {
		return err
	}
	lock := r.lock
	if tx.Joined() { // nobody will look in a transaction of its own, so there must be a row to lock
		lock = r.hold
	}
	left, err := lock(ctx, tx, o)
	if err != nil {
		return err
	}
	if tx.Joined() && left.toBeCounted && left.room < amount {
		if left, err = r.count(ctx, tx, o, left); err != nil {
			return err
		}
		left.room += amount // of the row that this transaction has just made
	}
	switch {
	case left.room >= amount:
		left.room -= amount
		return r.deal(ctx, tx, o, left)
	case tx.Joined():
		refusal, err := r.refusal(ctx, tx, o, amount, left)
		if err != nil {
			return err
		}
		return refusal
	}
	return &short{r, o, amount}
}

func (r *Rule) amountOf(amount int64, owner []any) (recount.Owner, error) {
	if amount < 0 || amount > MaxAmount {
		return recount.Owner{}, fmt.Errorf("%w: %d of limit %q; it is 0 to %d", ErrAmount, amount, r.name, MaxAmount)
	}
	return r.encode(owner)
}

// sqlGive: as sqlTake. The row that was guessed may not be there, the row 0 is, or is made by sqlGiveFirst.
const sqlGive = `UPDATE onerow_limit SET room = room + ? WHERE name = ? AND owner = ? AND stripe = ?`

// sqlGiveFirst is for an owner that has not been counted: a count that began meanwhile and sees the row that
// goes waits here, or is waited for.
const sqlGiveFirst = `INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version) VALUES (?, ?, 0, ?, ?, 1)
 ON DUPLICATE KEY UPDATE room = room + ?`

// Give gives an amount back in the verb's transaction. Statements: 1; 1 more after a wrong guess.
func (r *Rule) Give(ctx context.Context, tx *onerow.Tx, amount int64, owner ...any) error {
	o, err := r.amountOf(amount, owner)
	if err != nil || amount == 0 {
		return err
	}
	return r.give(ctx, tx, amount, o)
}

func (r *Rule) give(ctx context.Context, tx *onerow.Tx, amount int64, o recount.Owner) error {
	stripe := r.guess(o.Key)
	n, err := onerow.Affected(ctx, tx, sqlGive, amount, r.name, []byte(o.Key), stripe)
	if err != nil || n == 1 {
		return err
	}
	_, err = tx.ExecContext(ctx, sqlGiveFirst, r.name, []byte(o.Key), unknown, never, amount)
	return err
}

// tries bounds how often Follow begins again for one limit: others may take what was just there.
const tries = 10

// Follow runs a verb that takes room in transactions of its own. Where there is too little, or it has not
// been counted, it looks in a transaction of its own (see the package documentation), and runs the verb again
// or returns [ErrLimit]. In a transaction of the caller's it only runs the verb.
func Follow(ctx context.Context, db onerow.DB, verb func() error) error {
	looked := map[*Rule]int{}
	for {
		err := verb()
		s, isShort := errors.AsType[*short](err)
		if !isShort {
			return err
		}
		refusal, room, lerr := s.rule.look(ctx, db, s.owner, s.amount)
		switch {
		case lerr != nil:
			return lerr
		case !room:
			return refusal
		case looked[s.rule] == tries:
			return fmt.Errorf("limit: room of %q for owner %s came and went %d times: %w", s.rule.name, s.owner.Key, tries, onerow.ErrMoved)
		}
		looked[s.rule]++
	}
}
