package repo_test

import (
	"context"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/repo"
)

// anyRepo is a repository of any rows, ids and owners: a test that runs for each shape is compiled once.
type anyRepo interface {
	Create(ctx context.Context, db onerow.DB, row any, opts ...repo.CreateOption) (onerow.Result[any], error)
	Get(ctx context.Context, db onerow.DB, id any) (any, error)
	Find(ctx context.Context, db onerow.DB, owner any, name string) (any, error)
	List(ctx context.Context, db onerow.DB, owner any, o repo.PageOptions) (repo.Page[any], error)
	Rename(ctx context.Context, db onerow.DB, id any, name string) (onerow.Result[any], error)
	Update(ctx context.Context, db onerow.DB, id any, change func(row any) error) (onerow.Result[any], error)
	Move(ctx context.Context, db onerow.DB, id any, to func(row any) error) (onerow.Result[any], error)
	Archive(ctx context.Context, db onerow.DB, id any) (onerow.Result[any], error)
	Activate(ctx context.Context, db onerow.DB, id any) (onerow.Result[any], error)
	CancelDelete(ctx context.Context, db onerow.DB, id any) (onerow.Result[any], error)
	Delete(ctx context.Context, db onerow.DB, id any, opts ...repo.DeleteOption) (repo.Deleted[any], error)
	OwnedBy(owner any) anyRepo
}

// untyped calls a repository. What Update and Move hand on is a *T.
type untyped[T any, ID repo.Key, Owner comparable] struct{ of *repo.Of[T, ID, Owner] }

// typed is the repository that an anyRepo calls.
func typed[T any, ID repo.Key, Owner comparable](r anyRepo) *repo.Of[T, ID, Owner] {
	return r.(*untyped[T, ID, Owner]).of
}

func result[T any](res onerow.Result[T], err error) (onerow.Result[any], error) {
	return onerow.Result[any]{Row: res.Row, Changed: res.Changed, Replayed: res.Replayed}, err
}

func (u *untyped[T, ID, Owner]) Create(ctx context.Context, db onerow.DB, row any, opts ...repo.CreateOption) (onerow.Result[any], error) {
	return result(u.of.Create(ctx, db, row.(T), opts...))
}

func (u *untyped[T, ID, Owner]) Get(ctx context.Context, db onerow.DB, id any) (any, error) {
	return u.of.Get(ctx, db, id.(ID))
}

func (u *untyped[T, ID, Owner]) Find(ctx context.Context, db onerow.DB, owner any, name string) (any, error) {
	return u.of.Find(ctx, db, owner.(Owner), name)
}

func (u *untyped[T, ID, Owner]) List(ctx context.Context, db onerow.DB, owner any, o repo.PageOptions) (repo.Page[any], error) {
	page, err := u.of.List(ctx, db, owner.(Owner), o)
	list := repo.Page[any]{Next: page.Next}
	for _, row := range page.Items {
		list.Items = append(list.Items, row)
	}
	return list, err
}

func (u *untyped[T, ID, Owner]) Rename(ctx context.Context, db onerow.DB, id any, name string) (onerow.Result[any], error) {
	return result(u.of.Rename(ctx, db, id.(ID), name))
}

func (u *untyped[T, ID, Owner]) Update(ctx context.Context, db onerow.DB, id any, change func(row any) error) (onerow.Result[any], error) {
	return result(u.of.Update(ctx, db, id.(ID), func(row *T) error { return change(row) }))
}

func (u *untyped[T, ID, Owner]) Move(ctx context.Context, db onerow.DB, id any, to func(row any) error) (onerow.Result[any], error) {
	return result(u.of.Move(ctx, db, id.(ID), func(row *T) error { return to(row) }))
}

func (u *untyped[T, ID, Owner]) Archive(ctx context.Context, db onerow.DB, id any) (onerow.Result[any], error) {
	return result(u.of.Archive(ctx, db, id.(ID)))
}

func (u *untyped[T, ID, Owner]) Activate(ctx context.Context, db onerow.DB, id any) (onerow.Result[any], error) {
	return result(u.of.Activate(ctx, db, id.(ID)))
}

func (u *untyped[T, ID, Owner]) CancelDelete(ctx context.Context, db onerow.DB, id any) (onerow.Result[any], error) {
	return result(u.of.CancelDelete(ctx, db, id.(ID)))
}

func (u *untyped[T, ID, Owner]) Delete(ctx context.Context, db onerow.DB, id any, opts ...repo.DeleteOption) (repo.Deleted[any], error) {
	del, err := u.of.Delete(ctx, db, id.(ID), opts...)
	res, err := result(del.Result, err)
	return repo.Deleted[any]{Result: res, JobID: del.JobID, DeletionID: del.DeletionID}, err
}

func (u *untyped[T, ID, Owner]) OwnedBy(owner any) anyRepo {
	return &untyped[T, ID, Owner]{u.of.OwnedBy(owner.(Owner))}
}
