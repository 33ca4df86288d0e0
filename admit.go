package onerow

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/plain"
	"github.com/onerow/onerow/internal/wire"
)

// kind reads a text, unless somebody else does: a guarded session, which refuses by itself what would end the
// transaction.
func (tx *Tx) kind(query string) plain.Kind {
	if _, marks := wire.Marked(query); marks {
		return plain.Savepoint
	}
	if tx.alone || tx.outermost().watched {
		return plain.Other
	}
	return plain.Of(query)
}

// admit says whether a statement may be sent.
func (tx *Tx) admit(ctx context.Context, kind plain.Kind) error {
	if _, nested := tx.db.(*Tx); nested || tx.alone || tx.poison.Load() != nil {
		return nil // the outer one says so; alone or poisoned, there is nothing to keep
	}
	if tx.rows != nil {
		if _, err := tx.rows.Columns(); err == nil { // an error says that they are closed
			return ErrRowsOpen
		}
		tx.rows = nil
	}
	if err := tx.checkSame(ctx); err != nil {
		return err
	}
	switch kind {
	case plain.Ends:
		return ErrEndsTx
	case plain.Unclear:
		return tx.unclear(ctx)
	}
	return nil
}

// unclear sets the savepoint that proves afterwards that the transaction is still the same one. A guarded
// session does so itself.
func (tx *Tx) unclear(ctx context.Context) error {
	name := wire.SameName()
	real, err := tx.mark(ctx, name)
	if err == nil && !real {
		err = wire.ErrUnclearInGroup
	}
	if err == nil {
		tx.unsure = name
	}
	return err
}

// checkSame asks, after a statement that was not understood, whether the transaction is still there.
func (tx *Tx) checkSame(ctx context.Context) error {
	if tx.unsure == "" {
		return nil
	}
	name := tx.unsure
	tx.unsure = ""
	_, err := tx.ExecContext(ctx, "RELEASE SAVEPOINT "+name)
	if mysqlerr.NoSuchSavepoint(err) {
		err = ErrTxEnded
		tx.lose(err)
	}
	return err
}

// same is err, or what is wrong with the transaction after its function.
func (tx *Tx) same(ctx context.Context, err error) error {
	if tx.unsure == "" || tx.poisoned() != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	switch serr := tx.checkSame(ctx); {
	case serr == nil || errors.Is(err, serr):
		return err
	case err == nil:
		return serr
	default:
		return fmt.Errorf("%w (and %w)", err, serr)
	}
}
