package idempotency

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// whole runs body so that nothing of it stays in its owner's transaction when it fails, panics, or its
// context ends: the owner may go on and commit. A transaction of this call is rolled back by who began it.
func (d *doCall[T]) whole(ctx context.Context, tx *onerow.Tx, body func(context.Context, *onerow.Tx) error) (err error) {
	d.depth = depth(ctx)
	if !tx.Joined() {
		return body(ctx, tx)
	}
	undo := d.savepoint("a")
	if _, err := tx.ExecContext(ctx, "SAVEPOINT "+undo); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			err = takeBack(ctx, tx, undo, err)
		}
	}()
	err = body(ctx, tx)
	done = err == nil
	return err
}

// takeBack goes back to a savepoint, also when ctx has ended: the owner's may go on. Where the whole
// transaction is gone, there is nothing to take back, and err says so.
func takeBack(ctx context.Context, tx *onerow.Tx, savepoint string, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTime)
	defer cancel()
	_, rerr := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT "+savepoint)
	switch {
	case rerr == nil, errors.Is(rerr, onerow.ErrTxPoisoned), errors.Is(rerr, sql.ErrTxDone), mysqlerr.MayRunAgain(rerr):
		return err
	case mysqlerr.FromDriver(err) && mysqlerr.MayRunAgain(err):
		return err
	}
	return errors.Join(err, rerr)
}

// depthKey is where the context of a function has how many calls of Do it is inside of.
type depthKey struct{}

func depth(ctx context.Context) int {
	n, _ := ctx.Value(depthKey{}).(int)
	return n
}

// deeper is the context for the function.
func deeper(ctx context.Context) context.Context {
	return context.WithValue(ctx, depthKey{}, depth(ctx)+1)
}
