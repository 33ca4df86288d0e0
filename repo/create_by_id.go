package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// sqlMadeBefore and, without an archive, sqlDeleted tell what the INSERT cannot know: whether the archive has
// the id, by its primary key, and whether a row of the id was deleted, by the audit's index (resource,
// resource_id). The INSERT waited for whoever moved or deleted the row, so a snapshot that begins here is new
// enough; in a joined transaction it is a current read.
const (
	sqlMadeBefore = `SELECT COALESCE((SELECT 1 FROM {archive} WHERE {id} = ?{lock}), 0), ` + deletedBefore
	sqlDeleted    = `SELECT 0, ` + deletedBefore
	deletedBefore = `COALESCE((SELECT 1 FROM onerow_deletion WHERE resource = ? AND resource_id = ? LIMIT 1{lock}), 0)`
)

// firstOfItsID proves that the row that was just inserted has never been before, or takes it away again and
// answers with the row that has its id. One statement.
func (r *untyped) firstOfItsID(ctx context.Context, tx *onerow.Tx, w newRow) (res result, err error) {
	archived, deleted, err := r.madeBefore(ctx, tx, w)
	if err != nil || !archived && !deleted {
		return res, err
	}
	if err := one(onerow.Affected(ctx, tx, r.text(sqlDeleteActive), w.id, 1)); err != nil {
		return res, err
	}
	return r.sameRow(ctx, tx, w, true)
}

func (r *untyped) madeBefore(ctx context.Context, tx *onerow.Tx, w newRow) (archived, deleted bool, err error) {
	key, err := onerow.EncodeKey(w.id)
	if err != nil {
		return false, false, err
	}
	statement, args := sqlDeleted, []any{r.res.Name, []byte(key)}
	if r.res.Archive != "" {
		statement, args = sqlMadeBefore, append([]any{w.id}, args...)
	}
	err = onerow.QueryRow(ctx, tx, r.locked(statement, ifJoined(tx, shared)), args, &archived, &deleted)
	return archived, deleted, err
}

// notInserted is what a refused INSERT means. An id that the application made is looked for first: a repeat
// meets its own row, by its id as well as by its name.
func (r *untyped) notInserted(ctx context.Context, tx *onerow.Tx, w newRow, refused error) (res result, err error) {
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
func (r *untyped) sameRow(ctx context.Context, tx *onerow.Tx, w newRow, been bool) (res result, err error) {
	it, err := r.rowOfAnyOwner(ctx, tx, w.id)
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

// rowOfAnyOwner reads the row of an id, whoever owns it: from one snapshot, in which it is in one of the two
// tables, as new as the INSERT that was refused; in a joined transaction by current reads, which a row may
// pass that moves.
func (r *untyped) rowOfAnyOwner(ctx context.Context, tx *onerow.Tx, id any) (item, error) {
	if tx.Joined() {
		return r.all.getEither(ctx, tx, shared, id)
	}
	query, args := r.all.bothTables(sqlGet, sqlGetActive, "", id)
	return r.read(ctx, tx, query, args...)
}

func (r *untyped) goneBefore(w newRow) error {
	return fmt.Errorf("%w: %s %s was deleted, or its deletion waits; use a new id for a new row", ErrGone, r.res.Name, r.show(w.id))
}
