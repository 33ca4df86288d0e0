package repo

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

// Rename gives an active row another name. The unique index decides: a name that another row has is
// [ErrNameTaken], with that row's id. The row's own name, in the same spelling, is a no-op; in another
// spelling it is a change. An archived row is [ErrNotActive], unless the plan lets it be edited
// ([schema.Resource].EditArchived): then its name may be another's, until it is activated.
//
// Atomic: the one guarded UPDATE. After an unanswered COMMIT it returns
// [onerow.ErrOutcomeUnknown] and may simply be called again. Statements on a pool:
// BEGIN, UPDATE, SELECT, COMMIT, and the mark where the quota is ordered by the name.
func (r *Of[T, ID, Owner]) Rename(ctx context.Context, db onerow.DB, id ID, name string) (onerow.Result[T], error) {
	return answer[T](r.rename(ctx, db, id, name))
}

func (r *untyped) rename(ctx context.Context, db onerow.DB, id any, name string) (result, error) {
	if !r.res.Named() {
		return result{}, fmt.Errorf("%w: %q has no names", ErrUnsupported, r.res.Name)
	}
	c, err := r.call("rename", id)
	if err != nil {
		return result{}, err
	}
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

// sqlRename and sqlRenameArchived write a name, by the primary key, unless the row has it in this spelling.
// Of active rows the unique index (owner, name key) decides; archived ones may share a name: activating them
// decides.
const (
	sqlRename         = `UPDATE {active} SET {setName}{touch} WHERE {byID} AND CAST({label} AS BINARY) <> CAST(? AS BINARY)`
	sqlRenameArchived = `UPDATE {archive} SET {setName}{touch} WHERE {byID} AND CAST({label} AS BINARY) <> CAST(? AS BINARY)` + shown
)

// renameIn gives the row another name if it is in the table of a state, and no deletion hides it. Two
// statements; the mark where the quota is ordered by the name.
func (r *untyped) renameIn(ctx context.Context, tx *onerow.Tx, state schema.State, id any, name names.Parsed) (res result, found bool, err error) {
	statement := sqlRename
	if state == schema.Archived {
		statement = sqlRenameArchived
	}
	n, refused := onerow.Affected(ctx, tx, r.text(statement), append(nameArgs(name), id, name.Display)...)
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
