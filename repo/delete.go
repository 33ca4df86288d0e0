package repo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/packet"
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

// Deleted is the answer of Delete. Row is the row as it was; zero where it was
// gone before.
type Deleted[T any] struct {
	onerow.Result[T]
	// JobID is the cascade job that deletes what is below the row; 0 where there is
	// none: the row has never been, or its job is purged.
	JobID int64
	// DeletionID is the entry in the audit of deletions.
	DeletionID int64
}

// deleted is a Deleted of any type.
type deleted struct {
	result
	jobID, deletionID int64
}

// Delete deletes an active or an archived row. In one commit it logs the
// deletion, queues the cascade that deletes everything below the row, removes
// the row and marks the quota; if the cascade cannot be queued nothing is deleted.
// The caller does not wait for the children. A row that names an asset stays
// hidden until the cascade has deleted the asset; one that the plan keeps in its trash, until the cascade has
// kept it.
//
// Deleting what is gone is a no-op: it returns the earlier
// job, unless that is purged, logs nothing and queues nothing. A delete during the grace period of an
// earlier one takes the earlier time; after a dead job, also of a row that is gone, it
// queues a new one for the same deletion.
//
// Errors means: [ErrUnsupported] for a grace period or a trash without an archive table, [ErrIDReused]
// where both tables have a row of this id, for what is below the one cannot be told from what is below the
// other; [onerow.ErrOutcomeUnknown], after which it may simply be called again. Statements on a pool, for
// an active row: BEGIN, SELECT, log, queue, DELETE, mark, COMMIT; as many for an archived row, one more for
// an active one with a grace period.
func (r *Of[T, ID, Owner]) Delete(ctx context.Context, db onerow.DB, id ID, opts ...DeleteOption) (Deleted[T], error) {
	del, err := r.tables.deleteRow(ctx, db, id, opts)
	res, err := answer[T](del.result, err)
	return Deleted[T]{Result: res, JobID: del.jobID, DeletionID: del.deletionID}, err
}

// deleteRow is Delete for rows of any type.
func (r *tables) deleteRow(ctx context.Context, db onerow.DB, rowID any, opts []DeleteOption) (deleted, error) {
	var o deleteOptions
	for _, opt := range opts {
		opt(&o)
	}
	switch {
	case o.grace < 0:
		return deleted{}, fmt.Errorf("%w: a grace period of %v", ErrUnsupported, o.grace)
	case o.grace > 0 && r.res.Archive == "":
		return deleted{}, fmt.Errorf("%w: %q has no archive to keep a row in during a grace period", ErrUnsupported, r.res.Name)
	case r.res.Trash > 0 && !o.noTrash && r.res.Archive == "":
		return deleted{}, fmt.Errorf("%w: deleted rows of %q are to be kept in the trash, and it has no archive to hide one in until then; delete for good with NoTrash, or give it an archive",
			ErrUnsupported, r.res.Name)
	}
	id, err := r.key("delete", rowID)
	if err != nil {
		return deleted{}, err
	}
	var del deleted
	err = r.followRowAtomically(ctx, db, "delete", id, func(ctx context.Context, tx *onerow.Tx) error {
		del = deleted{}
		h, found, err := r.lockEither(ctx, tx, id)
		if err != nil {
			return err
		}
		if !found {
			return r.gone(ctx, tx, id, &del, true)
		}
		if err := r.single(ctx, tx, h, id); err != nil {
			return err
		}
		return r.deleteTx(ctx, tx, h, id, o, &del)
	})
	if err != nil {
		return deleted{}, err
	}
	return del, nil
}

// lockEither locks the row in the table in which it is.
func (r *tables) lockEither(ctx context.Context, tx *onerow.Tx, id any) (h held, found bool, err error) {
	if h, found, err = r.lock(ctx, tx, r.active, id); found || err != nil {
		return h, found, err
	}
	return r.lock(ctx, tx, r.archive, id)
}

// deleteTx deletes a locked row and queues the cascade.
func (r *tables) deleteTx(ctx context.Context, tx *onerow.Tx, h held, id any, o deleteOptions, del *deleted) error {
	d, err := r.deletion(h, o)
	if err != nil {
		return err
	}
	if h.deletionID != 0 { // hidden already: the earlier of the two times counts
		d.ID, d.From = h.deletionID, h.deletedFrom
		job, err := queue.Enqueue(ctx, tx, d)
		*del = deleted{result: result{row: h.row}, jobID: job.ID, deletionID: d.ID}
		return err
	}
	if d.ID, err = queue.Log(ctx, tx, d); err != nil {
		return err
	}
	job, err := queue.Enqueue(ctx, tx, d)
	if err != nil {
		return fmt.Errorf("the cascade could not be queued, so nothing was deleted: %w", err)
	}
	if job.ID <= h.finished { // see queue.Renumber
		if job.ID, err = queue.Renumber(ctx, tx, job.ID); err != nil {
			return err
		}
	}
	// An operator's job may have been open for the row: then its deletion counts.
	keep := r.keeps(o)
	if err := r.takeAway(ctx, tx, h, id, job.DeletionID, keep); err != nil {
		return err
	}
	*del = deleted{result: result{row: h.row, changed: true}, jobID: job.ID, deletionID: job.DeletionID}
	return r.left(ctx, tx, &h, keep)
}

// keeps says whether a deleted row stays, hidden: for the grace period, until its asset is gone, until the
// worker has put it into the trash.
func (r *tables) keeps(o deleteOptions) bool {
	return o.grace > 0 || r.res.Asset != "" || r.res.Trash > 0 && !o.noTrash
}

// left follows from a deletion that took an active row away, or hid it.
func (r *tables) left(ctx context.Context, tx *onerow.Tx, h *held, keep bool) error {
	if h.state != schema.Active {
		return nil
	}
	if err := r.mark(ctx, tx, h.owner); err != nil || keep {
		return err
	}
	return r.give(ctx, tx, h)
}

func (r *tables) deletion(h held, o deleteOptions) (d queue.Deletion, err error) {
	d = queue.Deletion{Resource: r.res.Name, From: string(h.state), Grace: o.grace, NoTrash: o.noTrash}
	if d.ResourceID, err = onerow.EncodeKey(h.key); err != nil {
		return d, err
	}
	if len(h.owner) > 0 {
		d.Owner, err = onerow.EncodeKey(h.owner...)
	}
	return d, err
}

// takeAway removes the locked row, or hides it in the archive under the deletion:
// see keeps.
func (r *tables) takeAway(ctx context.Context, tx *onerow.Tx, h held, id any, deletionID int64, keep bool) error {
	switch {
	case !keep:
		return moved(packet.ExecAll(ctx, tx, r.remove(h, id)))
	case h.state == schema.Active:
		err := packet.ExecAll(ctx, tx, r.toArchive(id, deletionID, string(schema.Active)), r.remove(h, id))
		return r.twinFirst(ctx, tx, r.active, id, moved(err))
	}
	return r.one(onerow.Affected(ctx, tx, r.sql.hide, deletionID, id, h.version))
}

// hideSQL marks a row that is in the archive already.
func (r *tables) hideSQL() string {
	return fmt.Sprintf("UPDATE %s SET version = version + 1, updated_at = UTC_TIMESTAMP(6), deletion_id = ?, deleted_from = 'archived' WHERE %s AND version = ?", r.archive.table, r.byID())
}

// gone answers a delete of a row that is in neither table, with the job that it had.
// revive: if that one is dead, a new one is queued for the same deletion.
func (r *tables) gone(ctx context.Context, tx *onerow.Tx, id any, del *deleted, revive bool) error {
	place, err := r.where(ctx, tx, id)
	if err != nil {
		return err
	}
	if place != "" {
		return errMoved
	}
	key, err := onerow.EncodeKey(id)
	if err != nil {
		return err
	}
	job, err := queue.Find(ctx, tx, r.res.Name, key)
	if errors.Is(err, queue.ErrNoJob) {
		return r.notMine()
	}
	if err == nil {
		err = r.wasMine(ctx, tx, job.DeletionID)
	}
	if err == nil && job.State == queue.Dead && revive {
		if err := r.notTheirs(ctx, tx, id); err != nil {
			return err
		}
		// Rows below may be left, and only a job finds them.
		job, err = queue.Enqueue(ctx, tx, queue.Deletion{ID: job.DeletionID, Resource: r.res.Name, ResourceID: key})
	}
	if err != nil {
		return err
	}
	del.jobID, del.deletionID = job.ID, job.DeletionID
	return nil
}
