package repo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/limit"
)

type call struct {
	verb    string
	id      any  // the key of the row; nil for a new one whose id the database makes
	oneShot bool // it writes once, so that nothing has to be taken back
	repeats bool // it is a Create that may be run again after a COMMIT without an answer
	err     error
}

// call is one for the row of an id. What no row can have is not found.
func (r *untyped) call(verb string, id any) call {
	key, err := r.fields.id.typ.Value(id)
	if err != nil {
		err = errtext.Errorf("repo: %s %s %v: %w: %w", verb, r.res.Name, id, onerow.ErrNotFound, err)
	}
	return call{verb: verb, id: key, err: err}
}

// savepoint is where a verb of this package goes back to; none calls another.
const savepoint = "onerow_repo"

// run runs a verb in a transaction, and again while its row keeps moving or a limit has to be counted. In a
// joined transaction, whose owner may commit after the error, what a try wrote before it failed is taken
// back.
func (r *untyped) run(ctx context.Context, db onerow.DB, c call, verb func(context.Context, *onerow.Tx) (result, error)) (res result, err error) {
	if c.err != nil {
		return res, c.err
	}
	if len(r.limits) == 0 {
		res, err = r.inTx(ctx, db, c, verb)
	} else {
		err = limit.Follow(ctx, db, func() (err error) {
			res, err = r.inTx(ctx, db, c, verb)
			return err
		})
	}
	if err != nil {
		return result{}, r.wrap(c.verb, c.id, err)
	}
	return res, nil
}

// errMoved: the row was in neither place when each was looked at, and yet is in one of them.
var errMoved = fmt.Errorf("repo: the row moves between its tables: %w", onerow.ErrMoved)

// inTx is run where no limit has to be counted. A row that moves in each try is a conflict; a unique key that
// refuses the row for nobody's sake may do so for ever, and is one after a few.
func (r *untyped) inTx(ctx context.Context, db onerow.DB, c call, verb func(context.Context, *onerow.Tx) (result, error)) (res result, err error) {
	conflict := &ConflictError{Resource: r.res.Name}
	inTx := onerow.InIdempotentTx
	if !c.repeats {
		conflict.ID, inTx = r.typed(c.id), onerow.InTx
	}
	err = inTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		if res, err = r.try(ctx, tx, c, verb); !errors.Is(err, errMoved) {
			return err
		}
		conflict.Attempts++
		if refused, ok := errors.AsType[*duplicateError](err); ok && conflict.Attempts >= maxDuplicates {
			conflict.Err = refused.err
			return conflict
		}
		return err
	})
	if errors.Is(err, errMoved) && ctx.Err() == nil {
		err = conflict
	}
	return res, err
}

func (r *untyped) try(ctx context.Context, tx *onerow.Tx, c call, verb func(context.Context, *onerow.Tx) (result, error)) (res result, err error) {
	if c.oneShot {
		return verb(ctx, tx)
	}
	err = tx.Savepoint(ctx, savepoint, func() (err error) {
		res, err = verb(ctx, tx)
		return err
	})
	return res, err
}

// wrap names the verb and the row in an error.
func (r *untyped) wrap(verb string, id any, err error) error {
	if err == nil {
		return nil
	}
	if id == nil {
		err = errtext.Wrap(err, "repo: %s %s", verb, r.res.Name)
	} else {
		err = errtext.Wrap(err, "repo: %s %s %s", verb, r.res.Name, r.show(id))
	}
	// No such column, no such table, a column that wants a value and gets none.
	if n := mysqlerr.Number(err); (n == 1054 || n == 1146 || n == 1364) && !strings.Contains(err.Error(), ".onerow_") {
		err = fmt.Errorf("%w (live.Verify says how the plan and the tables differ)", err)
	}
	return err
}

// guarded is a write that has to meet one row.
func guarded(query string, args ...any) onerow.Stmt {
	return onerow.Stmt{Query: query, Args: args, One: true}
}

// writeOne runs guarded writes. One that meets another number of rows is errMoved.
func writeOne(ctx context.Context, tx *onerow.Tx, writes ...onerow.Stmt) error {
	return notOneRow(packet.ExecAll(ctx, tx, writes...))
}

func notOneRow(err error) error {
	if errors.Is(err, onerow.ErrNotOneRow) {
		return errtext.Errorf("%w: a guarded write: %w", errMoved, err)
	}
	return err
}
