package limit

import (
	"context"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/recount"
)

// Changed takes the application's maximum of an owner over: call it in the transaction that changes it, so
// that no create sees the one without the other. Statements: 2 and the maximum's, 3 to 5 where it is another.
func (r *Rule) Changed(ctx context.Context, db onerow.DB, owner ...any) error {
	o, err := r.encode(owner)
	if err == nil {
		err = onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			now, err := r.hold(ctx, tx, o)
			if err != nil {
				return err
			}
			before := now
			if err := r.ask(ctx, tx, o, &now); err != nil || now == before {
				return err
			}
			return r.deal(ctx, tx, o, now)
		})
	}
	return errtext.Wrap(err, "limit: a new maximum of %q", r.name)
}

// Recount counts what an owner has and sets the room right, whatever was there before. Nobody takes from the
// owner's room meanwhile. Statements: BEGIN, 3, the maximum's, the count, 1 to 3 that write, COMMIT.
func (r *Rule) Recount(ctx context.Context, db onerow.DB, owner ...any) error {
	o, err := r.encode(owner)
	if err != nil {
		return errtext.Wrap(err, "limit: count %q", r.name)
	}
	_, err = r.recount(ctx, db, o)
	return err
}

// recount also says by how much the room was wrong.
func (r *Rule) recount(ctx context.Context, db onerow.DB, o recount.Owner) (drift int64, err error) {
	err = onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		now, before, err := r.renew(ctx, tx, o, true)
		if err == nil && !before.toBeCounted {
			drift = (now.room - now.maximum) - (before.room - before.maximum)
		}
		return err
	})
	return drift, errtext.Wrap(err, "limit: count %q of owner %s", r.name, o.Key)
}

// sqlState reads a range of the primary key. Plain read.
const sqlState = `SELECT COALESCE(SUM(room), 0), COALESCE(SUM(maximum), 0), COALESCE(MIN(version), 0) FROM onerow_limit WHERE name = ? AND owner = ?`

// State is what is in use of an owner's maximum, as far as it has been counted. A negative Max is none.
type State struct {
	Used, Max int64
	// Known is false where the owner has never been counted: nothing was taken yet.
	Known bool
}

// Look says what is in use of an owner's maximum. One statement, which reads a row or 64.
func (r *Rule) Look(ctx context.Context, db onerow.DB, owner ...any) (State, error) {
	o, err := r.encode(owner)
	var room, maximum, version int64
	if err == nil {
		err = onerow.QueryRow(ctx, db, sqlState, []any{r.name, []byte(o.Key)}, &room, &maximum, &version)
	}
	if err != nil {
		return State{}, errtext.Wrap(err, "limit: look at %q", r.name)
	}
	return stateOf(room, maximum, version), nil
}

// stateOf is the state of an owner's rows.
func stateOf(room, maximum, version int64) State {
	switch {
	case version == 0 || maximum-room > countable: // more than can be counted
		return State{}
	case maximum == unlimited:
		return State{Used: maximum - room, Max: -1, Known: true}
	}
	return State{Used: maximum - room, Max: maximum, Known: true}
}
