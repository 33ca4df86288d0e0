package txfuzz

import (
	"context"
	"errors"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/packet"
)

// undoing takes back what was to have been written since the savepoint, unless going back failed.
func (o *op) undoing(ctx context.Context, was *expect, dropped, err error) error {
	if err != nil {
		return o.told(ctx, err)
	}
	was.kept = o.cur.kept
	o.cur, o.dropped = was, dropped
	return nil
}

// textSavepoint goes back to a savepoint, after an error too, or releases it.
func textSavepoint(o *op, ctx context.Context, tx *onerow.Tx) error {
	run := func(query string) error {
		o.tell("Exec(%q)", query)
		_, err := tx.ExecContext(ctx, query)
		return err //nolint:wrapcheck // it is looked at
	}
	if err := run("SAVEPOINT s"); err != nil {
		return o.told(ctx, err)
	}
	was, dropped := o.cur.clone(), o.dropped
	s, a := o.any()
	o.tell("Exec(%s)", texts([]onerow.Stmt{s}))
	n, err := onerow.Affected(ctx, tx, s.Query, s.Args...)
	if err == nil && n == 0 {
		err = errNothing
	}
	if err == nil {
		o.cur.wrote(a)
	} else {
		o.tell("→ %s", short(err))
		o.cur.maybe(a)
		if o.deferred || o.careful {
			return err
		}
	}
	if err == nil && o.one(2) {
		return o.told(ctx, run("RELEASE SAVEPOINT s"))
	}
	return o.undoing(ctx, was, dropped, run("ROLLBACK TO SAVEPOINT s"))
}

// nest is InTx in InTx: the inner one joins.
func nest(o *op, ctx context.Context, tx *onerow.Tx) error {
	o.tell("InTx{")
	err := onerow.InTx(ctx, tx, func(ctx context.Context, tx *onerow.Tx) error {
		if err := exec(o, ctx, tx); err != nil {
			return err
		}
		if o.one(2) {
			return all(o, ctx, tx)
		}
		stmts, atoms := o.several(2)
		o.tell("ExecLast(%s)", texts(stmts)) // of a joined transaction: ExecAll
		return o.told(ctx, packet.ExecLast(ctx, tx, stmts...), atoms...)
	})
	o.tell("}")
	return err //nolint:wrapcheck // what it wrote stays, so it cannot be dropped
}

// inner is a savepoint of the Tx in a joined transaction, which takes back what failed.
func inner(o *op, ctx context.Context, tx *onerow.Tx) error {
	if o.deferred {
		return nil
	}
	was, dropped := o.cur.clone(), o.dropped
	fails := false
	o.tell("Savepoint{")
	err := onerow.InTx(ctx, tx, func(ctx context.Context, tx *onerow.Tx) error {
		return tx.Savepoint(ctx, "inner", func() error {
			if err := exec(o, ctx, tx); err != nil {
				return err
			}
			if fails = o.one(2); fails {
				return errBusiness
			}
			return nil
		})
	})
	o.tell("}")
	switch {
	case err == nil:
		return nil
	case fails && errors.Is(err, errBusiness) && !errors.Is(err, onerow.ErrNotUndone) && tx.Err() == nil:
		return o.undoing(ctx, was, dropped, nil)
	}
	return err //nolint:wrapcheck // it is looked at by the caller of InTx only
}
