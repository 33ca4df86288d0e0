package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/limit"
)

// call is one call of a verb.
type call struct {
	verb    string
	id      any  // the key of the row; nil for a new one whose id the database makes
	oneShot bool // it writes once, so that nothing has to be taken back
	repeats bool // it is a Create that may be run again after a COMMIT without an answer
}

// call is one for the row of an id. What no row can have is not found.
func (r *untyped) call(verb string, id any) (call, error) {
	key, err := r.fields.id.typ.Value(id)
	if err != nil {
		return call{}, fmt.Errorf("repo: %s %s %v: %w: %w", verb, r.res.Name, id, onerow.ErrNotFound, err)
	}
	return call{verb: verb, id: key}, nil
}

// savepoint is where a verb of this package goes back to; none calls another.
const savepoint = "onerow_repo"

// run runs a verb in a transaction, and again while its row keeps moving or a limit has to be counted. In a
// joined transaction, whose owner may commit after the error, what a try wrote before it failed is taken
// back.
func (r *untyped) run(ctx context.Context, db onerow.DB, c call, verb func(context.Context, *onerow.Tx) (result, error)) (result, error) {
	if len(r.limits) == 0 {
		return r.inTx(ctx, db, c, verb)
	}
	var res result
	err := limit.Follow(ctx, db, func() (err error) {
		res, err = r.inTx(ctx, db, c, verb)
		return err
	})
	if err != nil {
		return result{}, err
	}
	return res, nil
}

// inTx is run where no limit has to be counted.
func (r *untyped) inTx(ctx context.Context, db onerow.DB, c call, verb func(context.Context, *onerow.Tx) (result, error)) (res result, err error) {
	f := follower{ConflictError{Resource: r.res.Name}}
	if !c.repeats {
		f.conflict.ID = r.typed(c.id)
	}
	inTx := onerow.InTx
	if c.repeats {
		inTx = onerow.InIdempotentTx
	}
	err = inTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		if c.oneShot {
			res, err = verb(ctx, tx)
			return f.note(err)
		}
		return f.note(tx.Savepoint(ctx, savepoint, func() (err error) {
			res, err = verb(ctx, tx)
			return err
		}))
	})
	if err != nil {
		return result{}, r.wrap(c.verb, c.id, f.ended(ctx, err))
	}
	return res, nil
}

// errMoved: the row was in neither place when each was looked at, and yet is in one of them.
var errMoved = fmt.Errorf("repo: the row moves between its tables: %w", onerow.ErrMoved)

// follower makes the conflict of a row that moves in every run of its verb.
type follower struct{ conflict ConflictError }

// note is what a run ends with. A unique key that refuses the row for nobody's sake may do so for ever.
func (f *follower) note(err error) error {
	if !errors.Is(err, errMoved) {
		return err
	}
	f.conflict.Attempts++
	var refused *duplicateError
	if f.conflict.Attempts < maxDuplicates || !errors.As(err, &refused) {
		return err
	}
	f.conflict.Err = refused.err
	return &f.conflict
}

// ended is what the verb ends with.
func (f *follower) ended(ctx context.Context, err error) error {
	if errors.Is(err, errMoved) && ctx.Err() == nil {
		return &f.conflict
	}
	return err
}

// wrap names the verb and the row in an error.
func (r *untyped) wrap(verb string, id any, err error) error {
	if err == nil {
		return nil
	}
	if id == nil {
		return fmt.Errorf("repo: %s %s: %w", verb, r.res.Name, err)
	}
	return fmt.Errorf("repo: %s %s %s: %w", verb, r.res.Name, r.show(id), err)
}

// notOneRow turns the error of a guarded write that did not meet one row into errMoved.
func notOneRow(err error) error {
	if errors.Is(err, onerow.ErrNotOneRow) {
		return fmt.Errorf("%w: a guarded write: %w", errMoved, err)
	}
	return err
}

// one turns the count of a guarded write into an error unless it is 1.
func one(n int64, err error) error {
	if err == nil && n != 1 {
		err = fmt.Errorf("%w: a guarded write met %d rows", errMoved, n)
	}
	return err
}
