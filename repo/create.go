package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

// CreateOption configures one call of Create.
type CreateOption func(*createOptions)

type createOptions struct {
	requestID string
	reserved  map[string]string // by the limit
}

// RequestID makes the call repeatable: the first call with this id makes the row, every later one returns
// that row and says Replayed. It is 1 to 255 bytes, chosen by the client, and counts per resource and owner.
// An empty one is none: the call is not repeatable then. A longer one is [onerow.ErrInvalidKey].
func RequestID(id string) CreateOption { return func(o *createOptions) { o.requestID = id } }

// Create makes an active row from the owner, the parent, the name and the application's own columns of row;
// what else row carries is ignored. The unique index (owner, name key) decides: the loser gets [ErrNameTaken]
// with the row that has the name, and has written nothing. The new row counts as within its quota until that
// is recalculated.
//
// With [RequestID] a retry returns the first call's row, Replayed. Another payload under the same id is
// [ErrRequestMismatch]; a row deleted since is [ErrGone] and never made again. The payload is owner, parent,
// name and the application's own columns. Zero values and NULLs do not count (a pointer to 0 and a valid
// sql.Null of 0 do), nor do the order of the fields and their Go types where the values are the same. Such a
// call also survives a COMMIT without an answer; one without a request id returns [onerow.ErrOutcomeUnknown].
//
// Where the application makes the ids, that is enough: a repeat returns the row of the id, Replayed, as it is
// now and whatever else row says; [ErrConflict] if it is another owner's; [ErrGone] if it was deleted and its
// audit is kept. A COMMIT without an answer is survived too. An id that is zero, or that the column cannot
// hold, is [onerow.ErrInvalidKey].
//
// The row is read back after the INSERT if T has fields that the database fills in, the version too, or a
// column may store something else than was sent: DECIMAL, FLOAT, JSON, ENUM, a DATETIME of fewer digits, a
// CHAR that is not filled, a value that does not fit, a field with methods of its own. Integers, bool,
// DOUBLE, DATETIME(6), and texts and bytes that fit are not read back; then it is not seen what a trigger
// made of them.
//
// Errors: the name errors of package names; [ErrParentNotFound], of a further parent too; [ErrConflict] for
// a unique index of the application's own, with the row that has its values; [limit.ErrLimit] where the owner
// has no room.
//
// Atomic: row, quota mark and request record.
func (r *Of[T, ID, Owner]) Create(ctx context.Context, db onerow.DB, row T, opts ...CreateOption) (_ onerow.Result[T], err error) {
	ctx, span := r.untyped.start(ctx, "repo.Create")
	defer span.End(&err)
	return answer[T](r.untyped.create(ctx, db, reflect.ValueOf(&row).Elem(), opts))
}

// create may write to row, which is a copy of the caller's.
func (r *untyped) create(ctx context.Context, db onerow.DB, row reflect.Value, opts []CreateOption) (result, error) {
	var o createOptions
	for _, opt := range opts {
		opt(&o)
	}
	w, err := r.newRow(row)
	if err == nil {
		err = r.forOwner(w.owner)
	}
	if err == nil && o.requestID != "" {
		w.request, err = r.newRequest(o.requestID, w)
	}
	if err != nil {
		return result{}, r.wrap("create", nil, err)
	}
	w.reserved, w.answer = o.reserved, r.asStored(w)
	return r.insert(ctx, db, w)
}

// newRow is a row that is to be inserted: its arguments were computed once.
type newRow struct {
	row reflect.Value
	id  any    // nil where the database makes it
	key string // the id, encoded
	home
	scope string // the owner, encoded
	name  names.Parsed
	args  []any

	answer   reflect.Value // see asStored
	request  *request      // nil where nobody gave an id for it
	reserved map[string]string
}

// newRow refuses a row whose keys the toolkit's tables cannot hold: it could never be deleted.
func (r *untyped) newRow(row reflect.Value) (w newRow, err error) {
	w.row = row
	if err := r.fillOwner(row); err != nil {
		return w, err
	}
	if w.home, err = r.homeOf(row); err != nil {
		return w, err
	}
	if r.makesIDs() {
		if row.FieldByIndex(r.fields.id.index).IsZero() {
			return w, fmt.Errorf("%w: the field for %q is zero; the application makes the ids of %q, so that a create can be repeated",
				onerow.ErrInvalidKey, r.res.ID, r.res.Name)
		}
		if w.id, w.key, err = r.idOf(row); err != nil {
			return w, err
		}
		w.args = append(w.args, w.id)
	}
	w.args = append(w.args, r.homeArgs(w.home)...)
	if r.res.Named() {
		if w.name, err = r.res.Label.Kind.Parse(r.label(row)); err != nil {
			return w, err
		}
		w.args = append(w.args, nameArgs(w.name)...)
	}
	own, err := r.fields.args(row, r.fields.own)
	if err != nil {
		return w, err
	}
	w.args = append(w.args, own...)
	w.scope, err = encodeOwner(w.owner)
	return w, cmp.Or(err, r.amounts(row))
}

// nameArgs are the values of the columns that a name is stored in.
func nameArgs(name names.Parsed) []any {
	return []any{name.Display, []byte(name.Key), []byte(name.StemKey), name.Copy}
}

// fillOwner gives a row without an owner that of the repository.
func (r *untyped) fillOwner(v reflect.Value) error {
	for i, f := range r.fields.owners {
		if field := v.FieldByIndex(f.index); len(r.owner) > 0 && field.IsZero() {
			if err := f.typ.Set(field, r.owner[i]); err != nil {
				return fmt.Errorf("the field for column %q: %w", f.column, err)
			}
		}
	}
	return nil
}

// readsBack says whether the row is read once more, by its key, see [untyped.asStored].
func (w newRow) readsBack() bool { return !w.answer.IsValid() }

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
	if err := writeOne(ctx, tx, guarded(r.textIn(schema.Active, sqlDelete), w.id, 1)); err != nil {
		return res, err
	}
	res, err = r.sameRow(ctx, tx, w)
	if err == nil && !res.replayed {
		err = r.goneBefore(w)
	}
	return res, err
}

func (r *untyped) madeBefore(ctx context.Context, tx *onerow.Tx, w newRow) (archived, deleted bool, err error) {
	statement, args := sqlDeleted, []any{r.res.Name, []byte(w.key)}
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
		if res, err = r.sameRow(ctx, tx, w); err != nil || res.replayed {
			return res, err
		}
		switch _, deleted, err := r.madeBefore(ctx, tx, w); {
		case err != nil:
			return res, err
		case deleted:
			return res, r.goneBefore(w)
		}
	}
	return res, r.refused(ctx, tx, attempt{owner: w.owner, name: w.name, columns: r.insertColumns(), args: w.args}, refused)
}

// sameRow answers with the row that has the id of a new one, whoever owns it, and with nothing where there is
// none. It reads one snapshot, in which a row is in one of the two tables, as new as the INSERT that was
// refused; in a joined transaction it reads what is committed now, and a row that moves may pass.
func (r *untyped) sameRow(ctx context.Context, tx *onerow.Tx, w newRow) (res result, err error) {
	var it item
	if tx.Joined() {
		it, err = r.unscoped.getEither(ctx, tx, shared, w.id)
	} else {
		query, args := r.unscoped.bothTables(sqlGet, sqlRead, "", w.id)
		it, err = r.read(ctx, tx, query, args...)
	}
	if errors.Is(err, onerow.ErrNotFound) {
		return res, nil
	}
	if err != nil {
		return res, err
	}
	theirs, err := r.scopeOf(it.row)
	if err != nil {
		return res, err
	}
	if theirs != w.scope {
		return res, &ConflictError{Resource: r.res.Name, Index: "PRIMARY", Columns: []string{r.res.ID}, HolderID: r.typed(w.id)}
	}
	return result{row: it.row, replayed: true}, nil
}

func (r *untyped) goneBefore(w newRow) error {
	return fmt.Errorf("%w: %s %s was deleted, or its deletion waits; use a new id for a new row", ErrGone, r.res.Name, r.show(w.id))
}
