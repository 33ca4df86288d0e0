package repo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// Cursor is where a page ended. The zero value is the beginning of the list. Its
// text is meant for URLs; a text that no page returned is an error of List.
type Cursor string

// ErrInvalidCursor means: a cursor is not one that List returned.
var ErrInvalidCursor = errors.New("repo: not a cursor of this list")

// Page is a part of a list.
type Page[T any] struct {
	// Items in the order of the list.
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

// List returns a page of an owner's rows in the order of their ids, without those that are
// hidden by a deletion in its grace period. A page continues behind the last id
// of the one before (keyset), so its cost does not grow with its position, and
// rows that come and go meanwhile are neither repeated nor skipped. One statement,
// over the index (owner, id).
func (r *Of[T, ID, Owner]) List(ctx context.Context, db onerow.DB, owner Owner, o PageOptions) (Page[T], error) {
	page := Page[T]{Items: []T{}}
	query, err := r.listQuery(o.State)
	if err != nil {
		return page, err
	}
	args, err := r.ownerKey(owner)
	if err == nil {
		err = r.forOwner(args)
	}
	if err != nil {
		return page, r.wrap("list", nil, err)
	}
	if o.After == "" && r.makesIDs() { // there is no value that all others are greater than
		query = strings.Replace(query, " AND "+ident.Quote(r.res.ID)+" > ?", "", 1)
	} else {
		after, err := r.position(o.After)
		if err != nil {
			return page, err
		}
		args = append(args, after)
	}
	page, err = r.page(ctx, db, query, args, o.Limit, r.cursor)
	return page, r.wrap("list", nil, err)
}

// page runs a list's statement, whose last parameter is how many rows it reads: one more than are wanted.
func (r *tables[T]) page(ctx context.Context, db onerow.DB, query string, args []any, limit int, cursor func(*T) (Cursor, error)) (Page[T], error) {
	page := Page[T]{Items: []T{}}
	if limit <= 0 {
		limit = defaultLimit
	}
	limit = min(limit, maxLimit)
	err := onerow.Query(ctx, db, query, append(args, limit+1), func(rows *sql.Rows) error {
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
		page.Next, err = cursor(&page.Items[limit-1])
	}
	return page, err
}

// listQuery is the statement for the rows of one state.
func (r *tables[T]) listQuery(state schema.State) (string, error) {
	switch {
	case len(r.fields.owners) == 0:
		return "", fmt.Errorf("%w: %q has no owner to list by", ErrUnsupported, r.res.Name)
	case state == schema.Archived && r.res.Archive == "":
		return "", fmt.Errorf("%w: %q has no archive", ErrUnsupported, r.res.Name)
	case state == schema.Archived:
		return r.sql.listArchived, nil
	case state != schema.Active && state != "":
		return "", fmt.Errorf("%w: the state %q is neither %q nor %q", ErrUnsupported, state, schema.Active, schema.Archived)
	}
	return r.sql.listActive, nil
}

// cursor is the place behind a row.
func (r *tables[T]) cursor(row *T) (Cursor, error) {
	id, err := r.fields.id.of(reflect.ValueOf(row).Elem())
	if err != nil {
		return "", err
	}
	key, err := onerow.EncodeKey(id)
	return Cursor(key), err
}

// position is the id that a cursor names; AUTO_INCREMENT begins behind 0.
func (r *tables[T]) position(c Cursor) (any, error) {
	if c == "" {
		return int64(0), nil
	}
	id, err := r.decodeID(string(c))
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrInvalidCursor, c, err)
	}
	return id, nil
}
