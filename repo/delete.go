package repo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// DeleteOption configures one call of Delete.
type DeleteOption func(*deleteOptions)

type deleteOptions struct {
	grace   time.Duration
	noTrash bool
}

// NoTrash deletes for good, where the plan keeps deleted rows: neither the row nor what is below it can be
// brought back. A deletion of the row that is under way keeps nothing from then on.
func NoTrash() DeleteOption { return func(o *deleteOptions) { o.noTrash = true } }

// Grace hides the row in the archive table and lets the deletion be cancelled
// until the time is over, by the database's clock. Its name is free at once.
func Grace(d time.Duration) DeleteOption { return func(o *deleteOptions) { o.grace = d } }

// Deleted is the answer of Delete. Row is the row as it was; zero where it was gone before.
type Deleted[T any] struct {
	onerow.Result[T]
	// JobID is the cascade job that deletes what is below the row; 0 where there is
	// none: the row has never been, or its job is purged.
	JobID int64
	// DeletionID is the entry in the audit of deletions.
	DeletionID int64
}

// Delete deletes an active or an archived row. In one commit it logs the deletion, queues the cascade that
// deletes everything below the row, removes the row and marks the quota; if the cascade cannot be queued
// nothing is deleted. The caller does not wait for the children. A row that names an asset stays hidden until
// the cascade has deleted the asset; one that the plan keeps in its trash, until the cascade has kept it.
//
// Deleting what is gone is a no-op: it returns the earlier job, unless that is purged, logs nothing and
// queues nothing. A delete during the grace period of an earlier one takes the earlier time; after a dead
// job, also of a row that is gone, it queues a new one for the same deletion.
//
// Errors: [ErrUnsupported] for a grace period or a trash without an archive table; [ErrIDReused] where both
// tables have a row of this id, for what is below the one cannot be told from what is below the other;
// [onerow.ErrOutcomeUnknown], after which it may simply be called again.
func (r *Of[T, ID, Owner]) Delete(ctx context.Context, db onerow.DB, id ID, opts ...DeleteOption) (_ Deleted[T], err error) {
	ctx, span := r.untyped.start(ctx, "repo.Delete")
	defer span.End(&err)
	res, err := r.untyped.delete(ctx, db, id, opts)
	row, err := answer[T](res, err)
	return Deleted[T]{Result: row, JobID: res.jobID, DeletionID: res.deletionID}, err
}

func (r *untyped) delete(ctx context.Context, db onerow.DB, id any, opts []DeleteOption) (result, error) {
	var o deleteOptions
	for _, opt := range opts {
		opt(&o)
	}
	switch {
	case o.grace < 0:
		return result{}, fmt.Errorf("%w: a grace period of %v", ErrUnsupported, o.grace)
	case o.grace > 0 && r.res.Archive == "":
		return result{}, fmt.Errorf("%w: %q has no archive to keep a row in during a grace period", ErrUnsupported, r.res.Name)
	case r.res.Trash > 0 && !o.noTrash && r.res.Archive == "":
		return result{}, fmt.Errorf("%w: deleted rows of %q are to be kept in the trash, and it has no archive to hide one in until then; delete for good with NoTrash, or give it an archive",
			ErrUnsupported, r.res.Name)
	}
	c := r.call("delete", id)
	return r.run(ctx, db, c, func(ctx context.Context, tx *onerow.Tx) (res result, err error) {
		h, found, err := r.lockEither(ctx, tx, c.id)
		switch {
		case err != nil:
			return res, err
		case !found:
			return r.answerGone(ctx, tx, c.id, true)
		}
		if err := r.refuseTwin(ctx, tx, h, c.id); err != nil {
			return res, err
		}
		return r.deleteTx(ctx, tx, h, c.id, o)
	})
}

func (r *untyped) deleteTx(ctx context.Context, tx *onerow.Tx, h lockedRow, id any, o deleteOptions) (res result, err error) {
	d := queue.Deletion{Resource: r.res.Name, From: string(h.state), Grace: o.grace, NoTrash: o.noTrash}
	if d.ResourceID, err = onerow.EncodeKey(h.key); err != nil {
		return res, err
	}
	if len(h.owner) > 0 {
		if d.Owner, err = onerow.EncodeKey(h.owner...); err != nil {
			return res, err
		}
	}
	if h.deletionID != 0 { // hidden already: the earlier of the two times counts
		d.ID, d.From = h.deletionID, h.deletedFrom
		job, err := queue.Enqueue(ctx, tx, d)
		return result{row: h.row, jobID: job.ID, deletionID: d.ID}, err
	}
	if d.ID, err = queue.Log(ctx, tx, d); err != nil {
		return res, err
	}
	d.After = h.finished
	job, err := queue.Enqueue(ctx, tx, d)
	if err != nil {
		return res, fmt.Errorf("the cascade could not be queued, so nothing was deleted: %w", err)
	}
	// An operator's job may have been open for the row: then its deletion counts.
	keep := r.staysHidden(o)
	if err := r.removeOrHide(ctx, tx, h, id, job.DeletionID, keep); err != nil {
		return res, err
	}
	res = result{row: h.row, changed: true, jobID: job.ID, deletionID: job.DeletionID}
	if h.state != schema.Active {
		return res, nil
	}
	if err := r.mark(ctx, tx, h.owner); err != nil || keep {
		return res, err
	}
	return res, r.give(ctx, tx, &h)
}

// staysHidden says whether a deleted row stays, hidden: for the grace period, until its asset is gone, until
// the worker has put it into the trash.
func (r *untyped) staysHidden(o deleteOptions) bool {
	return o.grace > 0 || r.res.Asset != "" || r.res.Trash > 0 && !o.noTrash
}

// sqlHide marks a row that is in the archive already, by the primary key; it is locked.
const sqlHide = `UPDATE {archive} SET {touch}, deletion_id = ?, deleted_from = 'archived' WHERE {byID} AND version = ?`

// removeOrHide removes the locked row, or hides it in the archive under the deletion: see staysHidden.
func (r *untyped) removeOrHide(ctx context.Context, tx *onerow.Tx, h lockedRow, id any, deletionID int64, keep bool) error {
	switch {
	case !keep:
		return writeOne(ctx, tx, r.remove(h, id))
	case h.state == schema.Active:
		return r.twinFirst(ctx, tx, id, writeOne(ctx, tx, r.copyToArchive(h, id, deletionID, string(schema.Active)), r.remove(h, id)))
	}
	return writeOne(ctx, tx, guarded(r.text(sqlHide), deletionID, id, h.version))
}

// answerGone answers a delete of a row that is in neither table, with the job that it had; without, if that
// is purged or has never been. revive: if it is dead, a new one is queued for the same deletion.
func (r *untyped) answerGone(ctx context.Context, tx *onerow.Tx, id any, revive bool) (res result, err error) {
	place, err := r.where(ctx, tx, id)
	if err != nil {
		return res, err
	}
	if place != "" {
		return res, errMoved
	}
	key, err := onerow.EncodeKey(id)
	if err != nil {
		return res, err
	}
	job, err := queue.Find(ctx, tx, r.res.Name, key)
	switch {
	case errors.Is(err, queue.ErrNoJob) && r.owned: // there is no trace of whose it was
		return res, onerow.ErrNotFound
	case errors.Is(err, queue.ErrNoJob):
		return res, nil
	case err != nil:
		return res, err
	}
	if err := r.refuseAnothersDeletion(ctx, tx, job.DeletionID); err != nil {
		return res, err
	}
	if job.State == queue.Dead && revive {
		if r.owned { // another owner's row may have the id by now, see ErrIDReused
			place, err := r.unscoped.where(ctx, tx, id)
			if err == nil && place != "" {
				err = onerow.ErrNotFound
			}
			if err != nil {
				return res, err
			}
		}
		// Rows below may be left, and only a job finds them.
		job, err = queue.Enqueue(ctx, tx, queue.Deletion{ID: job.DeletionID, Resource: r.res.Name, ResourceID: key})
	}
	if err != nil {
		return res, err
	}
	return result{jobID: job.ID, deletionID: job.DeletionID}, nil
}
