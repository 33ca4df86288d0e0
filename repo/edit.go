package repo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

// Update reads an active row, lets change decide on a copy of it, and writes the application's own columns
// and the name if the row is still as it was read. If somebody else was faster it locks the row, reads it
// again and calls change again: updates of one row then wait for each other instead of giving up. change must
// have no effect but on its argument, since it may be called more than once; its error ends the update and
// comes back as it is. An archived row is written where the plan says so ([schema.Resource].EditArchived). A
// change of id, owner, parent, state or of what the toolkit maintains is not written. If nothing differs
// nothing is written.
//
// The version decides. What change computes from the old row (add 5) is applied
// once by each Update that returns nil; after [onerow.ErrOutcomeUnknown] it may
// have been applied. Errors: [ErrNameTaken]; [ErrConflict] for another unique index of
// the application's; [ErrNotActive]; [onerow.ErrNotFound]; [ErrParentNotFound] where a further parent that it
// writes is not there, which costs a statement each. Statements on a pool: BEGIN, SELECT,
// UPDATE, SELECT, COMMIT, and the mark where the quota is ordered by a column that is
// written; 1 more for an archived row; in a joined transaction the row is locked when it is read.
func (r *Of[T, ID, Owner]) Update(ctx context.Context, db onerow.DB, id ID, change func(row *T) error) (onerow.Result[T], error) {
	return answer[T](r.tables.updateRow(ctx, db, id, onRow(change)))
}

// updateRow is Update for rows of any type.
func (r *tables) updateRow(ctx context.Context, db onerow.DB, rowID any, change func(row reflect.Value) error) (res result, err error) {
	id, err := r.key("update", rowID)
	if err != nil {
		return res, err
	}
	tries, try := 0, r.followRow
	if r.sums() { // the room is a second write
		try = r.followRowAtomically
	}
	err = r.follow(ctx, db, func() error {
		return try(ctx, db, "update", id, func(ctx context.Context, tx *onerow.Tx) (err error) {
			tries++
			res, err = r.updateTx(ctx, tx, id, tx.Joined() || tries > 1, change)
			return err
		})
	})
	if err != nil {
		return result{}, err
	}
	return res, nil
}

// updateTx locks the row when it reads it if others change it as well, and in a joined
// transaction, whose snapshot would not see who was faster.
func (r *tables) updateTx(ctx context.Context, tx *onerow.Tx, id any, locked bool, change func(row reflect.Value) error) (res result, err error) {
	before, err := r.readToWrite(ctx, tx, id, locked)
	if err != nil {
		return res, err
	}
	query, read := r.sql.update, r.sql.readActive
	if before.state == schema.Archived {
		query, read = r.sql.updateArchived, r.sql.readArchived
	}
	was, err := r.ownArgs(before.row) // change may write through the row's pointers and slices
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
	write, name, changed, err := r.updateArgs(was, before.row, after)
	if err != nil {
		return res, err
	}
	if !changed {
		return result{row: before.row}, nil
	}
	if err := r.lockFurther(ctx, tx, id, after, referred); err != nil {
		return res, err
	}
	it, err := r.readAfter(ctx, tx, onerow.Stmt{Query: query, Args: append(write, id, before.version), One: true}, read, id)
	switch {
	case errors.Is(err, onerow.ErrNotOneRow):
		return res, fmt.Errorf("%w: version %d is no longer there", errMoved, before.version)
	case err != nil:
		return res, r.refused(ctx, tx, attempt{id: id, from: r.active.table, owner: owner, name: name,
			columns: r.updateColumns(), args: write}, err)
	}
	res = result{row: it.row, changed: true}
	if before.state != schema.Active {
		return res, nil
	}
	if err := r.adjust(ctx, tx, before.row, after, owner); err != nil {
		return res, err
	}
	if r.reorders(was, write[len(r.nameColumns()):], r.res.Named() && name.Display != r.label(before.row)) {
		err = r.mark(ctx, tx, owner)
	}
	return res, err
}

// readToWrite reads the row that an update writes: an active one, or an archived one where the plan says so.
func (r *tables) readToWrite(ctx context.Context, tx *onerow.Tx, id any, locked bool) (item, error) {
	queries := []string{r.sql.readActive}
	if r.res.EditArchived {
		queries = append(queries, r.sql.readArchived)
	}
	for _, query := range queries {
		if locked {
			query += " FOR UPDATE"
		}
		it, err := r.read(ctx, tx, query, id)
		if !errors.Is(err, onerow.ErrNotFound) {
			return it, err
		}
	}
	return item{}, r.notActive(ctx, tx, id)
}

// reorders says whether an update from the one to the other values of the
// application's own columns may move the row in the order of its quota.
func (r *tables) reorders(was, own []any, renamed bool) bool {
	var written []string
	if renamed {
		written = r.nameColumns()
	}
	for i, f := range r.fields.own {
		if !reflect.DeepEqual(was[i], own[i]) {
			written = append(written, f.column)
		}
	}
	return r.ordersBy(written)
}

// ownArgs are the values of the application's own columns, sharing no memory with
// the row.
func (r *tables) ownArgs(row reflect.Value) ([]any, error) {
	args, err := r.fields.args(row, r.fields.own)
	for i, arg := range args {
		switch raw := arg.(type) {
		case []byte:
			args[i] = bytes.Clone(raw)
		case json.RawMessage:
			args[i] = json.RawMessage(bytes.Clone(raw))
		}
	}
	return args, err
}

// updateArgs are the values of the columns that an update writes, and whether
// any of them differs; was are the application's own columns before.
func (r *tables) updateArgs(was []any, before, after reflect.Value) (args []any, name names.Parsed, changed bool, err error) {
	own, err := r.ownArgs(after)
	if err != nil {
		return nil, name, false, err
	}
	changed = !reflect.DeepEqual(was, own)
	if r.res.Named() {
		if name, err = r.res.Label.Kind.Parse(r.label(after)); err != nil {
			return nil, name, false, err
		}
		changed = changed || name.Display != r.label(before)
		args = nameArgs(name)
	}
	return append(args, own...), name, changed, nil
}

// editStatements read a row that is to be written, and write it; those of the archive are empty where the
// plan does not let its rows be edited.
type editStatements struct {
	readActive, readArchived string
	update, updateArchived   string
	rename, renameArchived   string
}

// editStatements takes what readSQL gives.
func (r *tables) editStatements(active, archived string) editStatements {
	q := editStatements{readActive: active, update: r.updateSQL(r.active, "")}
	if r.res.Named() {
		q.rename = r.renameSQL(r.active, "")
	}
	if r.res.EditArchived {
		q.readArchived, q.updateArchived = archived, r.updateSQL(r.archive, shown)
		if r.res.Named() {
			q.renameArchived = r.renameSQL(r.archive, shown)
		}
	}
	return q
}

// renameSQL writes a name, unless the row has it in this spelling.
func (r *tables) renameSQL(s side, condition string) string {
	return fmt.Sprintf("UPDATE %s SET %s = ?, %s = ?, stem_key = ?, copy_no = ?, version = version + 1, updated_at = UTC_TIMESTAMP(6) WHERE %s AND CAST(%[2]s AS BINARY) <> CAST(? AS BINARY)%[5]s",
		s.table, ident.Quote(r.res.Label.Column), ident.Quote(r.res.Label.Key), r.byID(), condition)
}

// updateSQL writes the application's own columns and the name; the version that
// was read guards it. The quota's flag is not among them.
func (r *tables) updateSQL(s side, condition string) string {
	var set []string
	for _, col := range r.updateColumns() {
		set = append(set, ident.Quote(col)+" = ?")
	}
	set = append(set, "version = version + 1", "updated_at = UTC_TIMESTAMP(6)")
	return r.inUTC(fmt.Sprintf("UPDATE %s SET %s WHERE %s AND version = ?%s", s.table, strings.Join(set, ", "), r.byID(), condition))
}

// updateColumns are the columns that an update writes, beside version and updated_at.
func (r *tables) updateColumns() []string {
	cols := r.nameColumns()
	for _, f := range r.fields.own {
		cols = append(cols, f.column)
	}
	return cols
}

// Rename gives an active row another name. The unique index decides: a name that another row has is
// [ErrNameTaken], with that row's id. The row's own name, in the same spelling, is a no-op; in another
// spelling it is a change. An archived row is [ErrNotActive], unless the plan lets it be edited
// ([schema.Resource].EditArchived): then its name may be another's, until it is activated.
//
// Atomic: the one guarded UPDATE. After an unanswered COMMIT it returns
// [onerow.ErrOutcomeUnknown] and may simply be called again. Statements on a pool:
// BEGIN, UPDATE, SELECT, COMMIT, and the mark where the quota is ordered by the name.
func (r *Of[T, ID, Owner]) Rename(ctx context.Context, db onerow.DB, id ID, name string) (onerow.Result[T], error) {
	return answer[T](r.tables.renameRow(ctx, db, id, name))
}

// renameRow is Rename for rows of any type.
func (r *tables) renameRow(ctx context.Context, db onerow.DB, rowID any, name string) (res result, err error) {
	if !r.res.Named() {
		return res, fmt.Errorf("%w: %q has no names", ErrUnsupported, r.res.Name)
	}
	id, err := r.key("rename", rowID)
	if err != nil {
		return res, err
	}
	parsed, err := r.res.Label.Kind.Parse(name)
	if err != nil {
		return res, r.wrap("rename", id, err)
	}
	err = r.followRow(ctx, db, "rename", id, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, r.sql.rename, append(nameArgs(parsed), id, parsed.Display)...)
		if mysqlerr.Classify(err) == mysqlerr.Duplicate {
			h, found, lerr := r.lock(ctx, tx, r.active, id)
			if lerr != nil {
				return lerr
			}
			if !found {
				return errMoved
			}
			return r.refused(ctx, tx, attempt{id: id, from: r.active.table, owner: h.owner, name: parsed,
				columns: r.nameColumns(), args: nameArgs(parsed)}, err)
		}
		if err != nil {
			return err
		}
		h, found, err := r.lock(ctx, tx, r.active, id)
		switch {
		case err != nil:
			return err
		case !found && r.res.EditArchived:
			res, err = r.renameArchived(ctx, tx, id, parsed)
			return err
		case !found:
			return r.notActive(ctx, tx, id)
		case n == 0 && h.label != parsed.Display: // it was not there for the UPDATE
			return errMoved
		}
		res = result{row: h.row, changed: n == 1}
		if n == 1 && r.ordersBy(r.nameColumns()) {
			return r.mark(ctx, tx, h.owner)
		}
		return nil
	})
	if err != nil {
		return result{}, err
	}
	return res, nil
}

// renameArchived gives an archived row another name, which others may have: activating it decides. Three
// statements at most.
func (r *tables) renameArchived(ctx context.Context, tx *onerow.Tx, id any, name names.Parsed) (res result, err error) {
	n, err := onerow.Affected(ctx, tx, r.sql.renameArchived, append(nameArgs(name), id, name.Display)...)
	if err != nil {
		return res, err
	}
	h, found, err := r.lock(ctx, tx, r.archive, id)
	switch {
	case err != nil:
		return res, err
	case !found || h.deletionID != 0:
		return res, r.notActive(ctx, tx, id)
	case n == 0 && h.label != name.Display: // it was not there for the UPDATE
		return res, errMoved
	}
	return result{row: h.row, changed: n == 1}, nil
}

// notActive says what it means that the active table does not have the row.
func (r *tables) notActive(ctx context.Context, tx *onerow.Tx, id any) error {
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
