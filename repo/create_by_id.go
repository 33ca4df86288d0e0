package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// createByID is Create where the application makes the ids: the id is what a request id is elsewhere, so that
// a COMMIT without an answer may simply be run again.
func (r *tables) createByID(ctx context.Context, db onerow.DB, w newRow) (res result, err error) {
	f := r.follower(nil)
	err = onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		return f.note(tx.Savepoint(ctx, savepoint, func() (err error) {
			res, err = r.insert(ctx, tx, w)
			return err
		}))
	})
	if err != nil {
		return result{}, r.wrap("create", w.id, f.ended(ctx, err))
	}
	return res, nil
}

// madeBeforeSQL asks for what the INSERT into the active table cannot know: whether the archive has the id,
// by its primary key, and whether a row of the id was deleted, by the audit's index (resource, resource_id).
// The INSERT waited for whoever moved or deleted the row, so a snapshot that begins here is new enough; in a
// joined transaction it is a current read.
func (r *tables) madeBeforeSQL(lock string) string {
	archived := "0"
	if r.res.Archive != "" {
		archived = fmt.Sprintf("COALESCE((SELECT 1 FROM %s WHERE %s = ?%s), 0)", r.archive.table, ident.Quote(r.res.ID), lock)
	}
	return fmt.Sprintf("SELECT %s, COALESCE((SELECT 1 FROM onerow_deletion WHERE resource = ? AND resource_id = ? LIMIT 1%s), 0)", archived, lock)
}

// firstOfItsID proves that the row that was just inserted has never been before, or takes it away again and
// answers with the row that has its id. One statement.
func (r *tables) firstOfItsID(ctx context.Context, tx *onerow.Tx, w newRow) (res result, err error) {
	archived, deleted, err := r.madeBefore(ctx, tx, w)
	if err != nil || !archived && !deleted {
		return res, err
	}
	if err := r.one(onerow.Affected(ctx, tx, r.sql.deleteActive, w.id, 1)); err != nil {
		return res, err
	}
	return r.sameRow(ctx, tx, w, true)
}

func (r *tables) madeBefore(ctx context.Context, tx *onerow.Tx, w newRow) (archived, deleted bool, err error) {
	query, args := r.sql.madeBefore, []any(nil)
	if tx.Joined() {
		query = r.sql.madeBeforeCurrent
	}
	if r.res.Archive != "" {
		args = append(args, w.id)
	}
	key, err := onerow.EncodeKey(w.id)
	if err != nil {
		return false, false, err
	}
	err = onerow.QueryRow(ctx, tx, query, append(args, r.res.Name, []byte(key)), &archived, &deleted)
	return archived, deleted, err
}

// notInserted is what a refused INSERT means. An id that the application made is looked for first: a repeat
// meets its own row, by its id as well as by its name.
func (r *tables) notInserted(ctx context.Context, tx *onerow.Tx, w newRow, refused error) (res result, err error) {
	if r.makesIDs() && mysqlerr.Classify(refused) == mysqlerr.Duplicate {
		res, err = r.sameRow(ctx, tx, w, false)
		if err != nil || res.replayed {
			return res, err
		}
		_, deleted, err := r.madeBefore(ctx, tx, w)
		if err != nil {
			return res, err
		}
		if deleted {
			return res, r.goneBefore(w)
		}
	}
	return res, r.refused(ctx, tx, attempt{owner: w.owner, name: w.name, columns: r.insertColumns(), args: w.args}, refused)
}

// sameRow answers with the row that has the id of a new one, and nothing where there is none, unless it
// must have been.
func (r *tables) sameRow(ctx context.Context, tx *onerow.Tx, w newRow, been bool) (res result, err error) {
	it, err := r.whoever(ctx, tx, w.id)
	switch {
	case errors.Is(err, onerow.ErrNotFound) && been:
		return res, r.goneBefore(w)
	case errors.Is(err, onerow.ErrNotFound):
		return res, nil
	case err != nil:
		return res, err
	}
	owner, err := r.ownerOf(it.row)
	if err != nil {
		return res, err
	}
	theirs, terr := encodeOwner(owner)
	mine, merr := encodeOwner(w.owner)
	if err := errors.Join(terr, merr); err != nil {
		return res, err
	}
	if theirs != mine {
		return res, &ConflictError{Resource: r.res.Name, Index: "PRIMARY", Columns: []string{r.res.ID}, HolderID: r.typed(w.id)}
	}
	return result{row: it.row, replayed: true}, nil
}

// whoever reads the row of an id, whoever owns it: from one snapshot, in which it is in one of the two
// tables, as new as the INSERT that was refused; in a joined transaction by current reads, which a row may
// pass that moves.
func (r *tables) whoever(ctx context.Context, tx *onerow.Tx, id any) (item, error) {
	anybody := *r
	anybody.owned = false
	if tx.Joined() {
		return r.get(ctx, tx, anybody.getSQL(" LOCK IN SHARE MODE"), id)
	}
	args := []any{id}
	if r.res.Archive != "" {
		args = append(args, id)
	}
	return r.read(ctx, tx, anybody.getSQL(""), args...)
}

func (r *tables) goneBefore(w newRow) error {
	return fmt.Errorf("%w: %s %s was deleted, or its deletion waits; use a new id for a new row", ErrGone, r.res.Name, r.show(w.id))
}
