package queue

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/internal/dbtext"
)

// verb is something that an operator does about one job.
type verb struct {
	name   string // in errors
	action string // that is noted if something changed; "" for none
	reason string // that is noted if the actor gives none
	// settled says whether there is nothing to do about a job that did not change; nil: never.
	settled func(State) bool
	// several: change writes more than once. In a joined transaction, whose owner may commit after an error,
	// all of it is taken back together.
	several bool
	change  func(ctx context.Context, tx *onerow.Tx) (changed bool, err error)
}

// do does the verb, in a transaction of its own on a pool, and returns the job as it is then, with
// [ErrWrongState] too. One statement beside those of change; 1 more with an actor.
func (v verb) do(ctx context.Context, db onerow.DB, jobID int64) (job Job, err error) {
	in := onerow.InTx
	if v.several {
		in = inSavepoint
	}
	err = in(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		job = Job{}
		changed, err := v.change(ctx, tx)
		if err != nil {
			return err
		}
		if job, err = answer(ctx, tx, jobID); err != nil {
			return err
		}
		switch {
		case changed && v.action != "":
			return actOnJob(ctx, tx, v.action, job, v.reason)
		case !changed && (v.settled == nil || !v.settled(job.State)):
			return fmt.Errorf("%w: it is %s", ErrWrongState, job.State)
		}
		return nil
	})
	if err != nil {
		return job, fmt.Errorf("cascade: %s job %d: %w", v.name, jobID, err)
	}
	return job, nil
}

// inSavepoint is a transaction of several writes: in a joined one, whose owner may commit after the
// error, they are taken back together. No function of this package calls another within it.
func inSavepoint(ctx context.Context, db onerow.DB, fn func(ctx context.Context, tx *onerow.Tx) error) error {
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		return tx.Savepoint(ctx, "onerow_cascade", func() error { return fn(ctx, tx) })
	})
}

// affected runs the one statement of a verb, and says whether it changed anything.
func affected(ctx context.Context, tx *onerow.Tx, query string, args ...any) (bool, error) {
	n, err := onerow.Affected(ctx, tx, query, args...)
	return n > 0, err
}

// reasonArg is the argument for a reason, cut to what the column holds.
func reasonArg(reason string) any { return dbtext.Arg(dbtext.Fit(reason, fault.MaxText)) }
