package repo

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/names"
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
