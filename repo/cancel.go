package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/schema"
)

// CancelDelete takes back a deletion whose grace period has not ended: its job is cancelled and exactly that
// deletion's row returns to where it was, under its name or, if that is taken meanwhile, as a copy (see
// [Of.Activate]). What was not deleted, or was brought back already, is a no-op.
//
// The job decides: it is cancelled under the row's deletion id where it is still scheduled, or held, else it
// is [ErrTooLate]. Where the row cannot come back, the deletion is held, also past its grace period: until a
// later CancelDelete brings the row back, or a Delete or a retry of the job lets it go on. It cannot come
// back where another unique index of the application's refuses it ([ErrConflict]), no name is free
// ([ErrNoFreeName]), the active table has another row of the id ([ErrIDReused]), or a foreign key, a CHECK or
// a trigger refuses it. In a caller's transaction the hold counts only if the caller commits. A deletion goes
// on where the row above is gone ([ErrParentNotFound]), and after an error that a later call may not meet:
// one that is [onerow.Retryable], the end of ctx, a state of the server. Other errors: [onerow.ErrNotFound]
// where there never was such a row, those of Activate, and [onerow.ErrOutcomeUnknown], after which it may
// simply be called again.
//
// Atomic: job, row and quota mark.
func (r *Of[T, ID, Owner]) CancelDelete(ctx context.Context, db onerow.DB, id ID) (_ onerow.Result[T], err error) {
	ctx, span := r.untyped.start(ctx, "repo.CancelDelete")
	defer span.End(&err)
	return answer[T](r.untyped.cancelDelete(ctx, db, id))
}

func (r *untyped) cancelDelete(ctx context.Context, db onerow.DB, id any) (result, error) {
	if r.res.Archive == "" {
		return result{}, fmt.Errorf("%w: %q has no archive, so its deletions are final", ErrUnsupported, r.res.Name)
	}
	c := r.call("cancel the deletion of", id)
	var d cancelling
	res, err := r.bringBack(ctx, db, c, func(ctx context.Context, tx *onerow.Tx) (back, error) {
		return r.cancelTx(ctx, tx, c.id, &d)
	})
	return res, r.hold(ctx, db, d, err)
}

// cancelling is the deletion that is being taken back.
type cancelling struct {
	key        string // of the row, encoded
	deletionID int64
	joined     bool // the transaction is the caller's
}

// isPermanent says whether err, which kept a row from coming back, stays until somebody looks at it,
// rather than passing by itself. Where the row above is gone there is nothing to come back to.
func isPermanent(err error) bool {
	passes := slices.ContainsFunc([]error{
		ErrTooLate, onerow.ErrNotFound, ErrParentNotFound, queue.ErrOtherDeletion, onerow.ErrOutcomeUnknown, onerow.ErrTxPoisoned,
		context.Canceled, context.DeadlineExceeded,
	}, func(other error) bool { return errors.Is(err, other) })
	return err != nil && !passes && !onerow.Retryable(err) && !queue.IsServerState(err)
}

// hold keeps a deletion from going on whose row could not come back, for its owner wants
// it: in a transaction of its own on a pool, after the one that failed. A crash between the
// two leaves what a crash before the call does.
func (r *untyped) hold(ctx context.Context, db onerow.DB, c cancelling, err error) error {
	if c.deletionID == 0 || !isPermanent(err) {
		return err
	}
	herr := queue.Hold(ctx, db, r.res.Name, c.key, c.deletionID, "cancelled, and it cannot come back: "+err.Error())
	switch {
	case herr != nil:
		return errtext.Errorf("%w (and its deletion could not be held: %w)", err, herr)
	case c.joined:
		return fmt.Errorf("%w (its deletion is held if the caller's transaction is committed; else it goes on)", err)
	}
	return fmt.Errorf("%w (its deletion is held: cancel it again, or delete or retry it)", err)
}

// sqlHiddenBy tells which deletion hides a row, and sqlUnhide shows a row again that was archived when it was
// deleted. Both find it by the primary key; it is locked, and the version proves that it is the one that was
// read.
const (
	sqlHiddenBy = `SELECT deletion_id, {id} FROM {archive} WHERE {byID} AND deletion_id IS NOT NULL{lock}`
	sqlUnhide   = `UPDATE {archive} SET {touch}, deletion_id = NULL, deleted_from = NULL WHERE {byID} AND version = ?`
)

func (r *untyped) cancelTx(ctx context.Context, tx *onerow.Tx, id any, c *cancelling) (back, error) {
	*c = cancelling{joined: tx.Joined()} // an earlier try may have met another deletion
	var deletionID int64
	var stored any
	query := r.locked(sqlHiddenBy, ifJoined(tx, exclusive)) // a caller's snapshot may be older than the deletion
	hidden, err := found(onerow.QueryRow(ctx, tx, query, []any{id}, &deletionID, r.fields.id.into(&stored)))
	if err != nil {
		return back{}, err
	}
	if !hidden {
		res, err := r.answerNotHidden(ctx, tx, id)
		return back{answer: &res}, err
	}
	c.deletionID = deletionID
	if c.key, err = onerow.EncodeKey(stored); err != nil {
		return back{}, err
	}
	err = queue.Cancel(ctx, tx, r.res.Name, c.key, deletionID)
	if errors.Is(err, queue.ErrTooLate) {
		// Too late, or somebody else has just cancelled the same deletion.
		place, werr := r.where(ctx, tx, id)
		switch {
		case werr != nil: // and not errMoved as well: a refused transaction is not run again in part
			return back{}, werr
		case place != "trash" && place != "":
			return back{}, errMoved
		}
		return back{}, errtext.Errorf("%w: %w", ErrTooLate, err)
	}
	if err != nil {
		return back{}, err
	}
	h, found, err := r.lockToActivate(ctx, tx, id)
	if err == nil && (!found || h.deletionID != deletionID) {
		err = errMoved
	}
	if err != nil || h.deletedFrom == string(schema.Active) {
		return back{held: h}, err
	}
	res, err := r.writeAndRead(ctx, tx, schema.Archived, id, guarded(r.text(sqlUnhide), id, h.version))
	return back{answer: &res}, err
}

// answerNotHidden answers for a row that no deletion hides.
func (r *untyped) answerNotHidden(ctx context.Context, tx *onerow.Tx, id any) (result, error) {
	h, found, err := r.lockEither(ctx, tx, id)
	switch {
	case err != nil:
		return result{}, err
	case found && h.deletionID != 0:
		return result{}, errMoved
	case found:
		return result{row: h.row}, nil
	}
	gone, err := r.answerGone(ctx, tx, id, false)
	switch {
	case err != nil:
		return result{}, err
	case gone.jobID == 0:
		return result{}, onerow.ErrNotFound
	}
	return result{}, fmt.Errorf("%w: its cascade job %d has begun", ErrTooLate, gone.jobID)
}
