package repo

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

// Update reads an active row, lets change decide on a copy of it, and writes the application's own columns
// and the name if the row is still as it was read. Otherwise it locks the row, reads it and calls change
// again: updates of one row then wait for each other. change must have no effect but on its argument; its
// error ends the update and comes back as it is. An archived row is written where the plan says so
// ([schema.Resource].EditArchived). Changes of id, owner, parent, state or of what the toolkit maintains are
// not written, and nothing is if nothing differs.
//
// The version decides. What change computes from the old row (add 5) is applied once by each Update that
// returns nil; after [onerow.ErrOutcomeUnknown] it may have been applied. Errors: [ErrNameTaken];
// [ErrConflict] for another unique index of the application's; [ErrNotActive]; [onerow.ErrNotFound];
// [ErrParentNotFound] where a further parent that it writes is not there. In a joined transaction the row is
// locked when it is read.
func (r *Of[T, ID, Owner]) Update(ctx context.Context, db onerow.DB, id ID, change func(row *T) error) (_ onerow.Result[T], err error) {
	ctx, span := r.untyped.start(ctx, "repo.Update")
	defer span.End(&err)
	return answer[T](r.untyped.update(ctx, db, id, onRow(change)))
}

func (r *untyped) update(ctx context.Context, db onerow.DB, id any, change func(row reflect.Value) error) (result, error) {
	c := r.call("update", id)
	c.oneShot = !slices.ContainsFunc(r.limits, func(l limited) bool { return l.sum != nil }) // the room is a second write
	tries := 0
	return r.run(ctx, db, c, func(ctx context.Context, tx *onerow.Tx) (result, error) {
		lock := ""
		if tries++; tx.Joined() || tries > 1 { // a joined transaction's snapshot would not see who was faster
			lock = exclusive
		}
		return r.updateTx(ctx, tx, c.id, lock, change)
	})
}

// sqlUpdate writes the application's own columns and the name, by the primary key; the version that was read
// guards it. The quota's flag is not among the columns.
const sqlUpdate = `{inUTC}UPDATE {table} SET {setUpdate}{touch} WHERE {byID} AND version = ?{shown}`

// updateColumns are the columns that an update writes, beside version and updated_at.
func (r *untyped) updateColumns() []string {
	columns := r.nameColumns()
	for _, f := range r.fields.own {
		columns = append(columns, f.column)
	}
	return columns
}

// updateTx reads the row, which it locks if others change it as well, and writes what change makes of it.
func (r *untyped) updateTx(ctx context.Context, tx *onerow.Tx, id any, lock string, change func(row reflect.Value) error) (res result, err error) {
	before, err := r.readToWrite(ctx, tx, id, lock)
	if err != nil {
		return res, err
	}
	was, err := r.fields.copiedArgs(before.row, r.fields.own) // change may write through the row's pointers and slices
	if err != nil {
		return res, err
	}
	referred, err := r.refersTo(before.row)
	if err != nil {
		return res, err
	}
	after := copyOf(before.row)
	if err := change(after); err != nil {
		return res, err
	}
	owner, err := r.ownerOf(before.row)
	if err != nil {
		return res, err
	}
	changed, args, name, err := r.changes(was, before.row, after)
	if err != nil || len(changed) == 0 {
		return result{row: before.row}, err
	}
	if err := r.newAmounts(before.row, after); err != nil {
		return res, err
	}
	if err := r.lockReferences(ctx, tx, id, after, referred); err != nil {
		return res, err
	}
	write := guarded(r.textIn(before.state, sqlUpdate), append(args, id, before.version)...)
	it, err := r.readAfter(ctx, tx, write, r.textIn(before.state, sqlRead), id)
	switch {
	case errors.Is(err, onerow.ErrNotOneRow):
		return res, fmt.Errorf("%w: version %d is no longer there", errMoved, before.version)
	case err != nil:
		return res, r.refused(ctx, tx, attempt{id: id, from: schema.Active, owner: owner, name: name, columns: r.updateColumns(), args: args}, err)
	}
	res = result{row: it.row, changed: true}
	if before.state != schema.Active {
		return res, nil
	}
	if err := r.adjust(ctx, tx, before.row, after, owner); err != nil {
		return res, err
	}
	if r.ordersBy(changed) {
		err = r.mark(ctx, tx, owner)
	}
	return res, err
}

// readToWrite reads the row that an update writes: an active one, or an archived one where the plan says so.
func (r *untyped) readToWrite(ctx context.Context, tx *onerow.Tx, id any, lock string) (item, error) {
	it, err := r.read(ctx, tx, r.locked(sqlRead, lock), id)
	if errors.Is(err, onerow.ErrNotFound) && r.res.EditArchived {
		it, err = r.read(ctx, tx, r.textOf(statement{text: sqlRead, lock: lock, state: schema.Archived}), id)
	}
	if errors.Is(err, onerow.ErrNotFound) {
		err = r.notActive(ctx, tx, id)
	}
	return it, err
}

// changes are the columns that an update changes, and the values of all that it writes; was are those of the
// application's own columns before.
func (r *untyped) changes(was []any, before, after reflect.Value) (changed []string, args []any, name names.Parsed, err error) {
	own, err := r.fields.copiedArgs(after, r.fields.own)
	if err != nil {
		return nil, nil, name, err
	}
	if r.res.Named() {
		if name, err = r.res.Label.Kind.Parse(r.label(after)); err != nil {
			return nil, nil, name, err
		}
		if name.Display != r.label(before) {
			changed = r.nameColumns()
		}
		args = nameArgs(name)
	}
	for i, f := range r.fields.own {
		if !reflect.DeepEqual(was[i], own[i]) {
			changed = append(changed, f.column)
		}
	}
	return changed, append(args, own...), name, nil
}

// notActive says what it means that the active table does not have the row.
func (r *untyped) notActive(ctx context.Context, tx *onerow.Tx, id any) error {
	place, err := r.where(ctx, tx, id)
	switch {
	case err != nil:
		return err
	case place == "active":
		return errMoved
	case place == "archived" && r.res.EditArchived:
		return errMoved
	case place == "archived":
		return fmt.Errorf("%w; activate it first", ErrNotActive)
	}
	return onerow.ErrNotFound
}

// Rename gives an active row another name. The unique index decides: a name that another row has is
// [ErrNameTaken], with that row's id. The row's own name, in the same spelling, is a no-op; in another
// spelling it is a change. An archived row is [ErrNotActive], unless the plan lets it be edited
// ([schema.Resource].EditArchived): then its name may be another's, until it is activated.
//
// Atomic: the one guarded UPDATE. After an unanswered COMMIT it returns
// [onerow.ErrOutcomeUnknown] and may simply be called again.
func (r *Of[T, ID, Owner]) Rename(ctx context.Context, db onerow.DB, id ID, name string) (_ onerow.Result[T], err error) {
	ctx, span := r.untyped.start(ctx, "repo.Rename")
	defer span.End(&err)
	return answer[T](r.untyped.rename(ctx, db, id, name))
}

func (r *untyped) rename(ctx context.Context, db onerow.DB, id any, name string) (result, error) {
	if !r.res.Named() {
		return result{}, fmt.Errorf("%w: %q has no names", ErrUnsupported, r.res.Name)
	}
	c := r.call("rename", id)
	parsed, err := r.res.Label.Kind.Parse(name)
	if err != nil {
		return result{}, r.wrap(c.verb, c.id, err)
	}
	c.oneShot = true
	return r.run(ctx, db, c, func(ctx context.Context, tx *onerow.Tx) (result, error) {
		res, found, err := r.renameIn(ctx, tx, schema.Active, c.id, parsed)
		if err == nil && !found && r.res.EditArchived {
			res, found, err = r.renameIn(ctx, tx, schema.Archived, c.id, parsed)
		}
		if err == nil && !found {
			err = r.notActive(ctx, tx, c.id)
		}
		return res, err
	})
}

// sqlRename writes a name, by the primary key, unless the row has it in this spelling. Of active rows the
// unique index (owner, name key) decides; archived ones may share a name: activating them decides.
const sqlRename = `UPDATE {table} SET {setName}{touch} WHERE {byID} AND CAST({label} AS BINARY) <> CAST(? AS BINARY){shown}`

// renameIn gives the row another name if it is in the table of a state, and no deletion hides it. Two
// statements; the mark where the quota is ordered by the name.
func (r *untyped) renameIn(ctx context.Context, tx *onerow.Tx, state schema.State, id any, name names.Parsed) (res result, found bool, err error) {
	n, refused := onerow.Affected(ctx, tx, r.textIn(state, sqlRename), append(nameArgs(name), id, name.Display)...)
	taken := state == schema.Active && mysqlerr.Classify(refused) == mysqlerr.Duplicate
	if refused != nil && !taken {
		return res, false, refused
	}
	h, found, err := r.lock(ctx, tx, state, id)
	switch {
	case err != nil:
		return res, false, err
	case taken && !found:
		return res, false, errMoved
	case taken:
		return res, true, r.refused(ctx, tx, attempt{id: id, from: state, owner: h.owner, name: name, columns: r.nameColumns(), args: nameArgs(name)}, refused)
	case !found || h.deletionID != 0:
		return res, false, nil
	case n == 0 && h.label != name.Display: // it was not there for the UPDATE
		return res, true, errMoved
	}
	res = result{row: h.row, changed: n == 1}
	if n == 1 && state == schema.Active && r.ordersBy(r.nameColumns()) {
		err = r.mark(ctx, tx, h.owner)
	}
	return res, true, err
}
