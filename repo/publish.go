package repo

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
)

// deletePublished is Delete with a queue elsewhere. The order protects: the
// deletion is logged, then published, and only then is the row removed. After a
// crash in between the row is still there and the caller deletes it again; the
// consumer's cascade also removes the root row.
func (r *tables) deletePublished(ctx context.Context, db onerow.DB, id any, o deleteOptions) (deleted, error) {
	var del deleted
	var d queue.Deletion
	err := r.followRow(ctx, db, "delete", id, func(ctx context.Context, tx *onerow.Tx) error {
		d = queue.Deletion{}
		h, found, err := r.lockEither(ctx, tx, id)
		if err != nil {
			return err
		}
		if !found {
			return r.gone(ctx, tx, id, &del, false)
		}
		if err := r.single(ctx, tx, h, id); err != nil {
			return err
		}
		if d, err = r.deletion(h, o); err != nil {
			return err
		}
		if h.deletionID != 0 { // hidden until its asset is gone: publish that deletion again
			d.ID, d.From = h.deletionID, h.deletedFrom
			return nil
		}
		d.ID, err = queue.Log(ctx, tx, d)
		return err
	})
	if err != nil || d.ID == 0 {
		return del, err
	}
	if err := r.publisher.Publish(ctx, d); err != nil {
		return deleted{}, fmt.Errorf("repo: delete %s %s: the cascade could not be published, so nothing was deleted: %w", r.res.Name, r.show(id), err)
	}
	err = r.followRowAtomically(ctx, db, "delete", id, func(ctx context.Context, tx *onerow.Tx) error {
		del = deleted{deletionID: d.ID}
		h, found, err := r.lockEither(ctx, tx, id)
		if err != nil || !found {
			return err // somebody else was faster: gone is what was wanted
		}
		del.row = h.row
		if h.deletionID != 0 {
			del.deletionID = h.deletionID
			return nil
		}
		del.changed = true
		if err := r.takeAway(ctx, tx, h, id, d.ID, r.keeps(o)); err != nil {
			return err
		}
		return r.left(ctx, tx, &h, r.keeps(o))
	})
	if err != nil {
		return deleted{}, err
	}
	return del, nil
}
