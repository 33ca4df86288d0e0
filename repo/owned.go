package repo

import (
	"context"
	"fmt"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/answers"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
)

// ErrOtherOwner means: a row was to be made, found or listed for another owner than the repository's, see
// [Of.OwnedBy].
var ErrOtherOwner = answers.New(403, "it belongs to somebody else", "repo: the repository is another owner's")

// OwnedBy is the repository of one owner's rows, for callers that name a row by an id that came from outside:
//
//	mine := projects.OwnedBy(user)
//	_, err := mine.Delete(ctx, db, id) // onerow.ErrNotFound, and nothing is written, if the row is somebody else's
//
// Each statement that reads or writes a row by its id has the owner in its condition, so there is no moment
// between a check and the write. Whether a row is somebody else's or has never been, the answer is the same;
// it may come later, for the server looks at the owner when it has the row's lock: that may be waited for,
// and is held until the end of a joined transaction. A row that has the same value in a unique index of the
// application's, or the same id ([ErrIDReused]), is named whoever owns it.
//
// Of a row that is gone the audit of its newest job says whose it was: a second Delete is a no-op then. It is
// [onerow.ErrNotFound] where the job or the audit is purged or names nobody: the row went with the row above
// it, or an operator queued the deletion.
//
// Create fills in the owner where the row has none; another one, and that of Find and List, is
// [ErrOtherOwner]. It makes no child below a parent of another owner, [ErrParentNotFound], where both
// resources have an owner column of the same name; a tenant is its parent's without OwnedBy too. Without an
// owner in the plan nothing is found and nothing made. Statements: as without it, and for a Delete or
// CancelDelete of a row that is gone 1 more, 2 where its job is dead. OwnedBy sends nothing itself; call it
// for each request.
func (r *Of[T, ID, Owner]) OwnedBy(owner Owner) *Of[T, ID, Owner] {
	return &Of[T, ID, Owner]{r.untyped.scopedTo(owner)}
}

func (r *untyped) scopedTo(owner any) *untyped {
	scoped := *r
	scoped.owned, scoped.owner, scoped.scope = true, nil, ""
	if key, err := r.ownerKey(owner); err == nil && len(key) > 0 { // else no row has such an owner
		scoped.owner = key
		if scope, err := encodeOwner(key); err == nil {
			scoped.scope = scope
		}
	}
	scoped.statements = newStatements()
	scoped.newParent = scoped.newParentLocks()
	return &scoped
}

// byID is the condition that finds a row by its id, and only a row of the owner's.
func (r *untyped) byID() string {
	condition := ident.Quote(r.res.ID) + " = ?"
	switch {
	case !r.owned:
		return condition
	case len(r.owner) == 0:
		return condition + " AND FALSE"
	}
	for i, column := range r.res.Owners() {
		condition += r.ownedBy(column, i)
	}
	return condition
}

// newParentLocks lock the row above a new one, active or archived, which is of the same owner and tenant, as
// far as it has these; the tenant is a parameter. A row that is there may go back to where it was.
func (r *untyped) newParentLocks() []rowLock {
	if r.parent.Name == "" {
		return nil
	}
	condition := ident.Quote(r.parent.ID) + " = ?"
	if r.sharesTenant() {
		condition += " AND " + ident.Quote(r.res.Tenant.Name) + " = ?"
	}
	for i, column := range r.res.Owners() {
		theirs := slices.Contains(r.parent.Owners(), column) && column != r.res.Parent.Column
		if len(r.owner) > 0 && theirs && column != r.res.Tenant.Name {
			condition += r.ownedBy(column, i)
		}
	}
	return r.ancestors[0].locksWhere(condition)
}

// ownedBy has the value in its text: the statement's parameters stay the same for everybody.
func (r *untyped) ownedBy(column string, i int) string {
	return " AND " + ident.Quote(column) + " = " + keytype.Literal(r.owner[i])
}

// forOwner refuses another owner than the repository's.
func (r *untyped) forOwner(owner []any) error {
	if !r.owned {
		return nil
	}
	theirs, err := encodeOwner(owner)
	if err == nil && theirs != r.scope {
		err = fmt.Errorf("%w: it is %s's, and this is for %s", ErrOtherOwner, r.scope, theirs)
	}
	return err
}

// namedOwner is the owner that a caller names beside the repository's, as its columns hold it.
func (r *untyped) namedOwner(owner any) ([]any, error) {
	key, err := r.ownerKey(owner)
	if err == nil {
		err = r.forOwner(key)
	}
	return key, err
}

// sqlDeletionOwner reads by the primary key. It is a current read, as sqlDeletion.
const sqlDeletionOwner = `SELECT COALESCE(owner, '') FROM onerow_deletion WHERE id = ? LOCK IN SHARE MODE`

// refuseAnothersDeletion refuses a row that is gone, unless the audit of its deletion says that it was the
// owner's.
func (r *untyped) refuseAnothersDeletion(ctx context.Context, tx *onerow.Tx, deletionID int64) error {
	if !r.owned {
		return nil
	}
	var owner string
	known, err := found(onerow.QueryRow(ctx, tx, sqlDeletionOwner, []any{deletionID}, &owner))
	if err == nil && (!known || owner != r.scope || owner == "") {
		return onerow.ErrNotFound
	}
	return err
}
