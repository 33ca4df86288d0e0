package repo

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
)

// ListByName returns a page of an owner's active rows in the order of their name keys: those whose names
// begin with prefix, in any spelling that has the same key, or all where it is empty. A prefix that ends in
// the middle of what the key leaves out (white space, a file's extension) finds what begins with the rest. A
// page continues behind the last name (keyset). Archived rows are [ErrUnsupported]: several may have one name
// there. One statement, over the unique index (owner, name key).
func (r *Of[T, ID, Owner]) ListByName(ctx context.Context, db onerow.DB, owner Owner, prefix string, o PageOptions) (Page[T], error) {
	return pageOf[T](r.tables.listRowsByName(ctx, db, owner, prefix, o))
}

// listRowsByName is ListByName for rows of any type.
func (r *tables) listRowsByName(ctx context.Context, db onerow.DB, owner any, prefix string, o PageOptions) (p page, err error) {
	switch {
	case !r.res.Named():
		return p, fmt.Errorf("%w: %q has no names to list by", ErrUnsupported, r.res.Name)
	case len(o.Where) > 0 || o.Sort != (Sort{}):
		return p, fmt.Errorf("%w: a list of %q by name has no Where and no Sort", ErrUnsupported, r.res.Name)
	case o.State != schema.Active && o.State != "":
		return p, fmt.Errorf("%w: only active rows of %q are in an index of names", ErrUnsupported, r.res.Name)
	}
	args, err := r.ownerKey(owner)
	if err == nil {
		err = r.forOwner(args)
	}
	if err != nil {
		return p, r.wrap("list", nil, err)
	}
	first := []byte{}
	if prefix != "" {
		name, err := r.res.Label.Kind.Parse(prefix)
		if err != nil {
			return p, r.wrap("list", nil, err)
		}
		first = []byte(name.Key)
	}
	l := &listing{owner: args, state: schema.Active, sort: listColumn{name: r.res.Label.Key}}
	from, err := r.nameFrom(l, o.After, first)
	if err != nil {
		return p, err
	}
	limit := o.limit()
	p, err = r.page(ctx, db, r.sql.listByName, append(slices.Clone(args), from, append(first, 0xff), limit+1), limit, nil,
		func(row reflect.Value) (Cursor, error) { return r.nameCursor(l, row) })
	return p, r.wrap("list", nil, err)
}

// byName begins the cursors of lists in the order of names.
const byName = "name"

func (r *tables) nameCursor(l *listing, row reflect.Value) (Cursor, error) {
	name, err := r.res.Label.Kind.Parse(r.label(row))
	if err != nil {
		return "", err
	}
	return r.seal(l, byName, string(name.Key))
}

// nameFrom is the key that a page begins with: the first of the prefix, or what comes right behind the
// cursor's. Keys are UTF-8, so none has the byte 0xff: with it behind the prefix comes after all that begin
// with it.
func (r *tables) nameFrom(l *listing, c Cursor, first []byte) ([]byte, error) {
	if c == "" {
		return bytes.Clone(first), nil
	}
	parts, err := r.unseal(l, c)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrInvalidCursor, c, err)
	}
	if len(parts) != 2 || parts[0] != byName || !strings.HasPrefix(parts[1], string(first)) {
		return nil, fmt.Errorf("%w: %q", ErrInvalidCursor, c)
	}
	return append([]byte(parts[1]), 0), nil
}
