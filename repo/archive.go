package repo

import (
	"cmp"
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/schema"
)

// Archive moves an active row to the archive table, where its name is free for
// others. The row keeps its id. Archiving what is archived is a
// no-op.
//
// The row is locked by its key, copied, and deleted where id and version are those
// that were read; at every commit it is in exactly one of the two tables. Errors:
// [onerow.ErrNotFound]; [ErrParentNotFound] where the row above is being deleted;
// [ErrIDReused] where the archive has another row of this id;
// [onerow.ErrOutcomeUnknown], after which it may simply be called again.
//
// Atomic: the move and the quota mark. Statements on a pool: BEGIN, SELECT, INSERT,
// DELETE, SELECT, mark, COMMIT, and one for a parent; 5 when the row is archived already.
func (r *Of[T, ID, Owner]) Archive(ctx context.Context, db onerow.DB, id ID) (onerow.Result[T], error) {
	return answer[T](r.tables.archiveRow(ctx, db, id))
}

// archiveRow is Archive for rows of any type.
func (r *tables) archiveRow(ctx context.Context, db onerow.DB, rowID any) (res result, err error) {
	if r.res.Archive == "" {
		return res, fmt.Errorf("%w: %q has no archive", ErrUnsupported, r.res.Name)
	}
	id, err := r.key("archive", rowID)
	if err != nil {
		return res, err
	}
	err = r.followRowAtomically(ctx, db, "archive", id, func(ctx context.Context, tx *onerow.Tx) error {
		h, found, err := r.lock(ctx, tx, r.active, id)
		if err != nil {
			return err
		}
		if !found {
			res, err = r.alreadyIn(ctx, tx, r.archive, id)
			return err
		}
		if err := r.single(ctx, tx, h, id); err != nil {
			return err
		}
		if err := r.lockParent(ctx, tx, h.parent, true); err != nil {
			return err
		}
		if res, err = r.across(ctx, tx, h, r.archive, id, r.toArchive(id, nil, nil)); err != nil {
			return r.twinFirst(ctx, tx, r.active, id, err)
		}
		if err := r.give(ctx, tx, &h); err != nil {
			return err
		}
		return r.mark(ctx, tx, h.owner)
	})
	if err != nil {
		return result{}, err
	}
	return res, nil
}

// toArchive copies a locked active row to the archive. deletionID and from are nil for a row that is merely
// archived.
func (r *tables) toArchive(id any, deletionID, from any) onerow.Stmt {
	return onerow.Stmt{Query: r.sql.toArchive, Args: []any{deletionID, from, id}, One: true}
}

// across copies a locked row to the other side, removes it from its own, and returns it as it is then. That
// each met one row is not counted: the look behind them finds the row, and sees whether it is still on the
// first side ([tables.twinColumn]), for a transaction sees its own writes in any snapshot.
func (r *tables) across(ctx context.Context, tx *onerow.Tx, h held, to side, id any, move onerow.Stmt) (result, error) {
	remove := r.remove(h, id)
	move.One, remove.One = false, false
	now, found, err := r.lock(ctx, tx, to, id, move, remove)
	if err == nil && (!found || now.twin) {
		err = errMoved
	}
	return result{row: now.row, changed: true}, err
}

// twinFirst is the error of a move: where a row was in its way, the one of the same id on the other side.
func (r *tables) twinFirst(ctx context.Context, tx *onerow.Tx, from side, id any, err error) error {
	if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return err
	}
	return cmp.Or(r.twin(ctx, tx, from, id, err), err)
}

// after runs the writes of a verb, and is its answer: the row as it is then, read by its key.
func (r *tables) after(ctx context.Context, tx *onerow.Tx, s side, id any, writes ...onerow.Stmt) (result, error) {
	h, found, err := r.lock(ctx, tx, s, id, writes...)
	if err == nil && !found {
		err = errMoved
	}
	return result{row: h.row, changed: true}, err
}

// alreadyIn answers a move whose source side does not have the row: it is where
// it should go (a success that changes nothing), hidden, gone, or on its way.
func (r *tables) alreadyIn(ctx context.Context, tx *onerow.Tx, s side, id any) (result, error) {
	place, err := r.where(ctx, tx, id)
	if err != nil {
		return result{}, err
	}
	switch schema.State(place) {
	case s.state:
		h, found, err := r.lock(ctx, tx, s, id)
		if err == nil && (!found || h.deletionID != 0) {
			err = errMoved
		}
		return result{row: h.row}, err
	case schema.Active, schema.Archived:
		return result{}, errMoved
	}
	return result{}, onerow.ErrNotFound
}
