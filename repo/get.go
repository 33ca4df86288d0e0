package repo

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// Get returns the row with this id, active or archived, or [onerow.ErrNotFound].
// A row that is hidden by a deletion in its grace period is not found. Both tables
// are asked in one statement, so a row that moves between them is not missed; an
// empty answer is asked again before it counts. Statements: 1; 3 for a row that
// is not there.
func (r *Of[T, ID, Owner]) Get(ctx context.Context, db onerow.DB, id ID) (T, error) {
	row, err := r.tables.getRow(ctx, db, id)
	return rowOf[T](row), err
}

// getRow is Get for rows of any type.
func (r *tables) getRow(ctx context.Context, db onerow.DB, id any) (row reflect.Value, err error) {
	key, err := r.key("get", id)
	if err != nil {
		return row, err
	}
	it, err := r.get(ctx, db, r.sql.get, key)
	return it.row, r.wrap("get", key, err)
}

// get runs one of the statements that ask both tables.
func (r *tables) get(ctx context.Context, db onerow.DB, query string, id any) (it item, err error) {
	args := []any{id}
	if r.res.Archive != "" {
		args = append(args, id)
	}
	for range asks {
		it, err = r.read(ctx, db, query, args...)
		if !errors.Is(err, onerow.ErrNotFound) {
			break
		}
	}
	return it, err
}

// Find returns the owner's active row with this name in any spelling that has
// the same name key: letter case and white space make no difference, and for file
// names neither extension nor pixel density. [onerow.ErrNotFound] otherwise. One
// statement, over the unique index.
func (r *Of[T, ID, Owner]) Find(ctx context.Context, db onerow.DB, owner Owner, name string) (T, error) {
	row, err := r.tables.findRow(ctx, db, owner, name)
	return rowOf[T](row), err
}

// findRow is Find for rows of any type.
func (r *tables) findRow(ctx context.Context, db onerow.DB, owner any, name string) (none reflect.Value, err error) {
	if !r.res.Named() {
		return none, fmt.Errorf("%w: %q has no names to find a row by", ErrUnsupported, r.res.Name)
	}
	whose, err := r.ownerKey(owner)
	if err == nil {
		err = r.forOwner(whose)
	}
	if err != nil {
		return none, r.wrap("find", nil, err)
	}
	parsed, err := r.res.Label.Kind.Parse(name)
	if err != nil {
		return none, r.wrap("find", nil, err)
	}
	it, err := r.read(ctx, db, r.sql.find, append(whose, parsed.Key)...)
	return it.row, r.wrap("find", nil, err)
}

// getStatements ask for a row of either table, or for the active one of a name.
type getStatements struct{ get, getCurrent, find string }

// getStatements takes what readSQL gives.
func (r *tables) getStatements(active, archived string) getStatements {
	q := getStatements{get: active, getCurrent: r.getSQL(" LOCK IN SHARE MODE")}
	if archived != "" {
		q.get += " UNION ALL " + archived
	}
	if r.res.Named() {
		q.find = fmt.Sprintf("SELECT %s, version, 'active' FROM %s WHERE %s AND %s = ?", r.fields.selectList(), r.active.table, r.ownerIs(), ident.Quote(r.res.Label.Key))
	}
	return q
}

// readSQL reads the row of one table; archived is empty where there is no archive.
func (r *tables) readSQL() (active, archived string) {
	list, key := r.fields.selectList(), r.byID()
	active = fmt.Sprintf("SELECT %s, version, 'active' FROM %s WHERE %s", list, r.active.table, key)
	if r.res.Archive != "" {
		archived = fmt.Sprintf("SELECT %s, version, 'archived' FROM %s WHERE %s AND deletion_id IS NULL", list, r.archive.table, key)
	}
	return active, archived
}

// getSQL reads the row of either table.
func (r *tables) getSQL(lock string) string {
	list, key := r.fields.selectList(), r.byID()
	query := fmt.Sprintf("SELECT %s, version, '%s' FROM %s WHERE %s%s", list, schema.Active, r.active.table, key, lock)
	if r.res.Archive == "" {
		return query
	}
	return fmt.Sprintf("(%s) UNION ALL (SELECT %s, version, '%s' FROM %s WHERE %s%s%s)", query, list, schema.Archived, r.archive.table, key, shown, lock)
}
