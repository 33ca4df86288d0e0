package onerow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/wire"
)

// undoTime is how long taking back may last when the context of the call has ended.
const undoTime = 2 * time.Second

// Savepoint runs fn and, in a transaction that was joined, takes back what it wrote when
// it fails or panics: the owner may commit after the error. In a transaction of [InTx]'s own
// ROLLBACK does that, and no statement is sent. It is for a verb that writes more than
// once. The name must not be one that a caller up the stack uses: the server moves it.
//
// What could not be taken back poisons the transaction, and the error is [ErrNotUndone] besides: it has
// to be rolled back. One statement more on a joined transaction, two when fn fails.
//
// On a member of a MySQL replication group no SAVEPOINT is sent. It answers OK there in a transaction that a
// write from another member has pushed away, and so does COMMIT then: what was written before is lost on this
// member, and not on the others. A verb that fails there before it has written leaves the transaction as it
// was; one that fails later cannot be taken back, see above. Whether the server is in a group is asked by the
// first savepoint: once for a session of a pool of package pool, where the session keeps to this for every
// query layer; on another pool in MySQL once for a transaction, or a verb in a *sql.Tx, which is a statement
// more. MariaDB is not asked.
func (tx *Tx) Savepoint(ctx context.Context, name string, fn func() error) (err error) {
	if !tx.joined {
		return fn()
	}
	real, err := tx.mark(ctx, name)
	if err != nil {
		return err
	}
	done, writes := false, tx.writes
	defer func() {
		switch {
		case done:
		case real:
			err = tx.takeBack(ctx, name, err)
		case tx.poisoned() == nil && tx.dirty(writes):
			tx.lose(wire.ErrGrouped)
			err = notUndone(err, wire.ErrGrouped)
		}
	}()
	err = fn()
	done = err == nil
	return err
}

// takeBack goes back to a savepoint after err, nil in a panic, and returns what of it the caller must know.
func (tx *Tx) takeBack(ctx context.Context, name string, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime) // the owner's context may go on
	defer cancel()
	_, uerr := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT "+name)
	switch {
	case uerr == nil, errors.Is(uerr, sql.ErrTxDone), errors.Is(uerr, ErrTxPoisoned):
		return err
	case mysqlerr.FromDriver(err) && mysqlerr.MayRunAgain(err): // the server no longer has the transaction, and err says so
		tx.lose(err)
		return err
	}
	tx.lose(uerr)
	return notUndone(err, uerr)
}

// notUndone is err where what was written before it stays, and why.
func notUndone(err, why error) error {
	if err == nil {
		return fmt.Errorf("%w: %w", ErrNotUndone, why)
	}
	return fmt.Errorf("%w (and %w: %w)", err, ErrNotUndone, why)
}

// lose poisons the transaction and the one that it is a part of.
func (tx *Tx) lose(err error) {
	p := &poison{err: err}
	tx.poison.CompareAndSwap(nil, p)
	tx.outermost().poison.CompareAndSwap(nil, p)
}

// outermost is the transaction that tx is a part of, or tx. A part has no parts, see inTx.
func (tx *Tx) outermost() *Tx {
	if outer, ok := tx.db.(*Tx); ok {
		return outer
	}
	return tx
}

// mark sets a savepoint in a joined transaction, and says whether it is one that the server has.
func (tx *Tx) mark(ctx context.Context, name string) (real bool, err error) {
	outer := tx.outermost()
	if outer.group == wire.NotAsked {
		var set bool
		outer.group, set, err = wire.AskGroup(name, func(text string) (value string, err error) {
			var what string
			err = QueryRow(ctx, tx, text, nil, &what, &value)
			return value, err
		})
		if set || err != nil {
			return set, err //nolint:wrapcheck // as the statement's
		}
	}
	if outer.group == wire.Yes {
		return false, nil
	}
	_, err = tx.ExecContext(ctx, "SAVEPOINT "+name)
	return true, err
}

// dirty says whether something may have been written since there were so many writes.
func (tx *Tx) dirty(writes int) bool {
	return tx.escaped || tx.outermost().escaped || tx.writes != writes
}
