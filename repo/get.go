package repo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
)

// Get returns the row with this id, active or archived, or [onerow.ErrNotFound].
// A row that is hidden by a deletion in its grace period is not found. Both tables
// are asked in one statement, so a row that moves between them is not missed; an
// empty answer is asked again before it counts. Statements: 1; 3 for a row that
// is not there.
func (r *Repo[T]) Get(ctx context.Context, db onerow.DB, id int64) (T, error) {
	it, err := r.get(ctx, db, r.sql.get, id)
	return it.row, r.wrap("get", id, err)
}

// get runs one of the statements that ask both tables.
func (r *Repo[T]) get(ctx context.Context, db onerow.DB, query string, id int64) (it item[T], err error) {
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
func (r *Repo[T]) Find(ctx context.Context, db onerow.DB, owner int64, name string) (T, error) {
	var none T
	if !r.res.Named() {
		return none, fmt.Errorf("%w: %q has no names to find a row by", ErrUnsupported, r.res.Name)
	}
	if err := r.forOwner(owner); err != nil {
		return none, r.wrap("find", 0, err)
	}
	parsed, err := r.res.Label.Kind.Parse(name)
	if err != nil {
		return none, r.wrap("find", 0, err)
	}
	it, err := r.read(ctx, db, r.sql.find, owner, parsed.Key)
	return it.row, r.wrap("find", 0, err)
}

// Cursor is where a page ended. The zero value is the beginning of the list. Its
// text is meant for URLs; a text that no page returned is an error of List.
type Cursor string

// ErrInvalidCursor means: a cursor is not one that List returned.
var ErrInvalidCursor = errors.New("repo: not a cursor of this list")

// Page is a part of a list.
type Page[T any] struct {
	// Items in the order of their ids, oldest first.
	Items []T
	// Next continues the list. Empty: there is no more.
	Next Cursor
}

// PageOptions say which part of a list is wanted.
type PageOptions struct {
	// State is [schema.Active] (the default) or [schema.Archived].
	State schema.State
	// After is the Next of the page before.
	After Cursor
	// Limit is how many rows are wanted at most. Default 50, at most 500.
	Limit int
}

const (
	defaultLimit = 50
	maxLimit     = 500
)

// List returns a page of an owner's rows, oldest first, without those that are
// hidden by a deletion in its grace period. A page continues behind the last id
// of the one before (keyset), so its cost does not grow with its position, and
// rows that come and go meanwhile are neither repeated nor skipped. One statement,
// over the index (owner, id).
func (r *Repo[T]) List(ctx context.Context, db onerow.DB, owner int64, o PageOptions) (Page[T], error) {
	page := Page[T]{Items: []T{}}
	query := r.sql.listActive
	switch {
	case r.res.Owner == "":
		return page, fmt.Errorf("%w: %q has no owner to list by", ErrUnsupported, r.res.Name)
	case o.State == schema.Archived && r.res.Archive == "":
		return page, fmt.Errorf("%w: %q has no archive", ErrUnsupported, r.res.Name)
	case o.State == schema.Archived:
		query = r.sql.listArchived
	case o.State != schema.Active && o.State != "":
		return page, fmt.Errorf("%w: the state %q is neither %q nor %q", ErrUnsupported, o.State, schema.Active, schema.Archived)
	}
	if err := r.forOwner(owner); err != nil {
		return page, r.wrap("list", 0, err)
	}
	var after int64
	if o.After != "" {
		parts, err := onerow.DecodeKey(string(o.After))
		if err != nil {
			return page, fmt.Errorf("%w: %w", ErrInvalidCursor, err)
		}
		var isInt bool
		if after, isInt = parts[0].(int64); !isInt || len(parts) != 1 {
			return page, fmt.Errorf("%w: %q", ErrInvalidCursor, o.After)
		}
	}
	limit := o.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	limit = min(limit, maxLimit)
	err := onerow.Query(ctx, db, query, []any{owner, after, limit + 1}, func(rows *sql.Rows) error {
		var it item[T]
		if err := r.scanRow(rows, &it.row, &it.version, &it.state); err != nil {
			return err
		}
		r.setState(&it.row, it.state)
		page.Items = append(page.Items, it.row)
		return nil
	})
	if err == nil && len(page.Items) > limit {
		page.Items = page.Items[:limit]
		var next string
		next, err = onerow.EncodeKey(r.int(&page.Items[limit-1], r.fields.id))
		page.Next = Cursor(next)
	}
	return page, r.wrap("list", 0, err)
}
