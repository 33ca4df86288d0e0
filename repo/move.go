package repo

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/answers"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/schema"
)

// ErrBeingDeleted means: the row goes with a row above it, whose deletion has been committed, or an operator
// has queued its cascade. It is an [ErrParentNotFound] too.
var ErrBeingDeleted error = parentError{answers.New(409, "it is being deleted", "repo: the row is being deleted, with what is above it")}

// Move gives an active row to another owner, puts it below another parent, or both:
//
//	res, err := projects.Move(ctx, db, id, func(p *Project) error { p.UserID = 7; return nil })
//	res, err := screens.Move(ctx, db, id, func(s *Screen) error { s.ProjectID = 42; return nil })
//
// to gets the locked row and says where it goes, by the fields of owner, tenant and parent; what else it
// changes is not written. It must have no effect but on its argument, since it may be called more than once;
// its error ends the move and comes back as it is. A row that is there already is a success that changes
// nothing. What is below the row goes with it.
//
// The row keeps its id and its name. Where another row of the new owner has the name, the row is renamed to
// the next free copy, as by [Of.Activate]; the unique index decides each try. It counts as within the quota
// of its new owner until that is recalculated; both owners are marked. An archived row is [ErrNotActive],
// unless the plan lets it be edited ([schema.Resource].EditArchived): then its name may be another's, until
// it is activated. A row that a deletion hides is [onerow.ErrNotFound].
//
// The new parent is locked as by [Of.Create]: [ErrParentNotFound], [ErrParentArchived], and its tenant is the
// row's. Nothing leaves a deletion: where the row's old parent, or any row above that, is gone or hidden, or
// has an open cascade job as the row itself may have, it is [ErrBeingDeleted]; and nothing comes below a row
// that goes with one above it, [ErrParentNotFound]. All rows above, up to the root, are locked until the
// transaction ends.
//
// Where tables below store the owner, the tenant or the parent that would change, it is
// [ErrChildrenStoreOwner], with the tables, whether they have rows or not. A repository of one owner
// ([Of.OwnedBy]) gives nothing away, [ErrOtherOwner], and moves its rows below its owner's parents.
//
// Other errors: [onerow.ErrNotFound]; [ErrUnsupported] for rows with neither owner nor parent; [ErrIDReused];
// [limit.ErrLimit] of the new owner; [ErrNoFreeName] after 100 conflicts and the name errors of package
// schema; [ErrConflict] where another unique index refuses the row under any name;
// [onerow.ErrOutcomeUnknown], after which it may simply be called again: then the row is there, or goes there
// now.
//
// Atomic: the move, the new name and both quota marks. A taken name costs a ROLLBACK, a look-up and a
// second try, and so does every further conflict.
func (r *Of[T, ID, Owner]) Move(ctx context.Context, db onerow.DB, id ID, to func(row *T) error) (_ onerow.Result[T], err error) {
	ctx, span := r.untyped.start(ctx, "repo.Move")
	defer span.End(&err)
	return answer[T](r.untyped.move(ctx, db, id, onRow(to)))
}

func (r *untyped) move(ctx context.Context, db onerow.DB, id any, to func(row reflect.Value) error) (result, error) {
	if len(r.home) == 0 {
		return result{}, fmt.Errorf("%w: %q has neither an owner nor a parent", ErrUnsupported, r.res.Name)
	}
	c := r.call("move", id)
	return r.underFreeName(ctx, db, c, func(ctx context.Context, tx *onerow.Tx, copyNo int) (res result, err error) {
		h, found, err := r.lock(ctx, tx, schema.Active, c.id)
		if err == nil && !found && r.res.EditArchived {
			h, found, err = r.lock(ctx, tx, schema.Archived, c.id)
			found = found && h.deletionID == 0
		}
		switch {
		case err != nil:
			return res, err
		case !found:
			return res, r.notActive(ctx, tx, c.id)
		}
		if err := r.refuseTwin(ctx, tx, h, c.id); err != nil {
			return res, err
		}
		m, err := r.moveOf(h, to)
		if err != nil || !m.changesOwner && !m.changesParent {
			return result{row: h.row}, err
		}
		return r.moveTx(ctx, tx, h, c.id, m, copyNo)
	})
}

// home is whose a row is, and what it is below.
type home struct {
	owner  []any
	parent any // nil where there is none
}

// move is from where to where a row goes. Both are as the Go types spell keys, where the row's own spelling
// may be another: a program that is not this one may have written it.
type move struct {
	from, to                    home
	changesOwner, changesParent bool
	columns                     []string // that change
}

func (r *untyped) homeOf(row reflect.Value) (h home, err error) {
	if h.owner, err = r.ownerOf(row); err == nil && r.fields.parent.index != nil {
		h.parent, err = r.fields.parent.of(row)
	}
	return h, err
}

// moveOf asks to where a locked row goes.
func (r *untyped) moveOf(h lockedRow, to func(row reflect.Value) error) (m move, err error) {
	if m.from, err = r.homeOf(h.row); err != nil {
		return m, err
	}
	after := copyOf(h.row)
	if err := to(after); err != nil {
		return m, err
	}
	if m.to, err = r.homeOf(after); err != nil {
		return m, err
	}
	if err := r.forOwner(m.to.owner); err != nil {
		return m, err
	}
	if _, err := encodeOwner(m.to.owner); err != nil {
		return m, err
	}
	for i, column := range r.res.Owners() {
		if keytype.Compare(m.from.owner[i], m.to.owner[i]) != 0 {
			m.changesOwner, m.columns = true, append(m.columns, column)
		}
	}
	if m.to.parent != nil && keytype.Compare(m.from.parent, m.to.parent) != 0 {
		if m.changesParent = true; !slices.Contains(m.columns, r.res.Parent.Column) {
			m.columns = append(m.columns, r.res.Parent.Column)
		}
	}
	return m, r.refuseStoredBelow(m.columns)
}

// homeArgs are the values of [untyped.home].
func (r *untyped) homeArgs(h home) []any {
	args := slices.Clone(h.owner)
	if len(r.home) > len(args) {
		args = append(args, h.parent)
	}
	return args
}

// sqlGive writes owner, parent and name, over the unique index (owner, name key); the others need no name.
// All find their row by the primary key; it is locked, and the version proves that it is the one that was
// read.
const (
	sqlGive         = `UPDATE {active} SET {setHome}{setName}{withinQuota}{touch} WHERE {byID} AND version = ?`
	sqlMoveBelow    = `UPDATE {active} SET {setParent}{touch} WHERE {byID} AND version = ?`
	sqlMoveArchived = `UPDATE {archive} SET {setHome}{touch} WHERE {byID} AND version = ?` + shown
)

func (r *untyped) moveTx(ctx context.Context, tx *onerow.Tx, h lockedRow, id any, m move, copyNo int) (res result, err error) {
	if err := r.lockAncestors(ctx, tx, h, m); err != nil {
		return res, err
	}
	if h.state == schema.Archived {
		return r.writeAndRead(ctx, tx, schema.Archived, id, guarded(r.text(sqlMoveArchived), append(r.homeArgs(m.to), id, h.version)...))
	}
	w := attempt{id: id, from: schema.Active, owner: m.to.owner, columns: r.home, args: r.homeArgs(m.to)}
	write := guarded(r.text(sqlMoveBelow), m.to.parent, id, h.version)
	if m.changesOwner { // and so the row needs its name there
		var args []any
		if w.name, args, err = r.nameOf(h, copyNo); err != nil {
			return res, err
		}
		write = guarded(r.text(sqlGive), slices.Concat(w.args, args, []any{id, h.version})...)
	}
	res, err = r.writeAndRead(ctx, tx, schema.Active, id, write)
	switch {
	case err == nil:
		return res, r.noteNewOwner(ctx, tx, h, m)
	case m.changesOwner && mysqlerr.Classify(err) == mysqlerr.Duplicate:
		return res, r.nameRefused(tx, w, copyNo, err)
	}
	return res, r.refused(ctx, tx, w, err)
}

// noteNewOwner tells what counts the active rows of an owner that one has left the old owner and come to the
// new one. It is the one place for that, in the transaction of the move, behind the write of the row.
func (r *untyped) noteNewOwner(ctx context.Context, tx *onerow.Tx, h lockedRow, m move) error {
	switch {
	case !m.changesOwner && r.ordersBy(m.columns):
		return r.mark(ctx, tx, h.owner)
	case !m.changesOwner:
		return nil
	}
	if err := r.handOver(ctx, tx, &h, m.to.owner); err != nil {
		return err
	}
	return r.mark(ctx, tx, h.owner, m.to.owner)
}
