package repo

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/onerow/onerow"
)

// Get returns the row with this id, active or archived, or [onerow.ErrNotFound]. A row that is hidden by a
// deletion in its grace period is not found. Both tables are asked in one statement, so a row that moves
// between them is not missed; an empty answer is asked again before it counts. Statements: 1; 3 for a row
// that is not there.
func (r *Of[T, ID, Owner]) Get(ctx context.Context, db onerow.DB, id ID) (_ T, err error) {
	ctx, span := r.untyped.start(ctx, "repo.Get")
	defer span.End(&err)
	row, err := r.untyped.get(ctx, db, id)
	return rowOf[T](row), err
}

func (r *untyped) get(ctx context.Context, db onerow.DB, id any) (row reflect.Value, err error) {
	c := r.call("get", id)
	if c.err != nil {
		return row, c.err
	}
	it, err := r.getEither(ctx, db, "", c.id)
	return it.row, r.wrap(c.verb, c.id, err)
}

// sqlGet reads what sqlRead does, of both tables.
const sqlGet = `(SELECT {fields}, version, 'active' FROM {active} WHERE {byID}{lock})
  UNION ALL (SELECT {fields}, version, 'archived' FROM {archive} WHERE {byID}` + shown + `{lock})`

// getEither asks both tables, with a lock or by the snapshot.
func (r *untyped) getEither(ctx context.Context, db onerow.DB, lock string, id any) (it item, err error) {
	query, args := r.bothTables(sqlGet, sqlRead, lock, id)
	for range maxEmptyReads {
		it, err = r.read(ctx, db, query, args...)
		if !errors.Is(err, onerow.ErrNotFound) {
			break
		}
	}
	return it, err
}

// Find returns the owner's active row with this name in any spelling that has the same name key: letter case
// and white space make no difference, and for file names neither extension nor pixel density.
// [onerow.ErrNotFound] otherwise. One statement, over the unique index.
func (r *Of[T, ID, Owner]) Find(ctx context.Context, db onerow.DB, owner Owner, name string) (_ T, err error) {
	ctx, span := r.untyped.start(ctx, "repo.Find")
	defer span.End(&err)
	row, err := r.untyped.find(ctx, db, owner, name)
	return rowOf[T](row), err
}

// sqlFind reads by the unique index (owner, name key).
const sqlFind = `SELECT {fields}, version, 'active' FROM {active} WHERE {ownerIs} AND {nameKey} = ?`

func (r *untyped) find(ctx context.Context, db onerow.DB, owner any, name string) (none reflect.Value, err error) {
	if !r.res.Named() {
		return none, fmt.Errorf("%w: %q has no names to find a row by", ErrUnsupported, r.res.Name)
	}
	whose, err := r.namedOwner(owner)
	if err != nil {
		return none, r.wrap("find", nil, err)
	}
	parsed, err := r.res.Label.Kind.Parse(name)
	if err != nil {
		return none, r.wrap("find", nil, err)
	}
	it, err := r.read(ctx, db, r.text(sqlFind), append(whose, parsed.Key)...)
	return it.row, r.wrap("find", nil, err)
}
