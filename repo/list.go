package repo

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/schema"
)

// Page is a part of a list.
type Page[T any] struct {
	// Items in the order of the list.
	Items []T
	// Next continues the list. Empty: there is no more.
	Next Cursor
}

// AnyState asks for active and archived rows in one list. A resource without an archive has active ones only.
const AnyState schema.State = "any"

// PageOptions say which rows a list has, in which order, and which part of it is wanted.
type PageOptions struct {
	// Where are values that columns must have. Default: any.
	Where Where
	// Sort is the order. Default: by the id.
	Sort Sort
	// State is [schema.Active] (the default), [schema.Archived] or [AnyState].
	State schema.State
	// After is the Next of the page before.
	After Cursor
	// Limit is how many rows are wanted at most. Default 50, at most 500.
	Limit int
}

// Where are values of columns: {"status": "open"} has the rows that are open, by the column's collation. nil
// is NULL. A value is of a Go type that a field for the column can have; one that no row can have is
// [ErrInvalidFilter].
type Where map[string]any

// Sort is the order of a list: by a column, and by the id where rows have the same value, both in one
// direction. NULL comes before all values.
type Sort struct {
	// Column is one of the resource's, the toolkit's among them: "created_at". Default: the id.
	Column string
	// Descending turns the order around.
	Descending bool
	// From and To leave out what comes before From and what is not before To, whatever the direction; rows
	// that are NULL too. nil: no bound. They may change between two pages.
	From, To any
}

const (
	defaultLimit = 50
	maxLimit     = 500
)

// List returns a page of an owner's rows, without those that are hidden by a deletion in its grace period:
//
//	page, err := tickets.List(ctx, db, owner, repo.PageOptions{
//		Where: repo.Where{"status": "open"}, Sort: repo.Sort{Column: "due_at", Descending: true}, State: repo.AnyState})
//
// A page continues behind the last row of the one before, by its value and its id (keyset), so its cost does
// not grow with its position: it reads one entry of an index more than it has rows, with both states twice as
// many, however many rows there are and have the same value.
//
// A row that stays as it is comes exactly once in the pages of a list, whatever rows come and go meanwhile;
// with AnyState also one that only moves between the tables. A row whose values change between two pages
// comes at its old place, at its new one, at both or at none; each write changes updated_at and version. A
// page is of one moment: no row is in it twice.
//
// The plan must have declared an index that begins with the owner's columns and those of Where, in any order,
// and goes on with the column of Sort and the id; for archived rows too, one that says so
// ([schema.Index.Archived]). Otherwise the answer is a [NoIndexError], which is an [ErrUnsupported] and says
// what to add. Columns are integers, DECIMAL, DATE, DATETIME, CHAR, VARCHAR, BINARY or VARBINARY, in Where
// ENUM too; what a caller compares with text that is not utf8mb4 is ASCII. [ErrInvalidCursor] is a cursor of
// another list.
//
// One statement. A list that is not just by the id, ascending, of one state, names its index to MariaDB:
// where the database has it under another name than the plan's DDL that is one more, and MariaDB before 11
// may then read all that is before the page.
func (r *Of[T, ID, Owner]) List(ctx context.Context, db onerow.DB, owner Owner, o PageOptions) (Page[T], error) {
	return pageOf[T](r.untyped.list(ctx, db, owner, o))
}

func (r *untyped) list(ctx context.Context, db onerow.DB, owner any, o PageOptions) (page, error) {
	l, err := r.listing(owner, o)
	if err != nil {
		return page{}, r.wrapList("list", err)
	}
	after, err := r.position(l, o.After)
	if err != nil {
		return page{}, err
	}
	var value sql.NullString
	more := []any{&value}
	if len(l.parts) > 1 {
		more = append(more, new(any), new(any)) // by which the server orders
	}
	var p page
	limit := o.limit()
	err = l.run(func(force bool) (err error) {
		query, args := r.pageSQL(l, after, limit+1, force)
		p, err = r.page(ctx, db, query, args, limit, more, func(row reflect.Value) (Cursor, error) { return r.cursor(l, row, value) })
		return err
	})
	return p, r.wrapList("list", err)
}

// run calls a list's statement with the index forced, and again without where there is none of its name.
func (l *listing) run(call func(force bool) error) error {
	if l.plain() {
		return call(false)
	}
	err := call(true)
	if mysqlerr.NoSuchIndex(err) {
		err = call(false)
	}
	return err
}

// limit is how many rows a page has at most.
func (o PageOptions) limit() int {
	if o.Limit <= 0 {
		return defaultLimit
	}
	return min(o.Limit, maxLimit)
}

// page is a Page of any type.
type page struct {
	items reflect.Value // a []T, invalid where there is none
	next  Cursor
}

// page runs a list's statement, which reads one row more than the page has. cursor is called with the page's
// last one, when more has what the statement says beside it.
func (r *untyped) page(ctx context.Context, db onerow.DB, query string, args []any, limit int, more []any, cursor func(row reflect.Value) (Cursor, error)) (page, error) {
	p := page{items: reflect.New(reflect.SliceOf(r.typ)).Elem()}
	var behind Cursor
	var version int64
	var state schema.State
	more = append([]any{&version, &state}, more...)
	err := onerow.Query(ctx, db, query, args, func(rows *sql.Rows) (err error) {
		n := p.items.Len()
		if n == limit {
			p.next = behind
			return nil
		}
		p.items.Grow(1)
		p.items.SetLen(n + 1)
		row := p.items.Index(n)
		if err := r.scanRow(rows, row, more...); err != nil {
			return err
		}
		r.setState(row, state)
		if n+1 == limit {
			behind, err = cursor(row)
		}
		return err
	})
	return p, err
}

// wrapList leaves errors as they are that name the list themselves.
func (r *untyped) wrapList(verb string, err error) error {
	if errors.Is(err, ErrUnsupported) || errors.Is(err, ErrInvalidFilter) || errors.Is(err, ErrInvalidCursor) {
		return err
	}
	return r.wrap(verb, nil, err)
}

// ListByName returns a page of an owner's active rows in the order of their name keys: those whose names
// begin with prefix, in any spelling that has the same key, or all where it is empty. A prefix that ends in
// the middle of what the key leaves out (white space, a file's extension) finds what begins with the rest. A
// page continues behind the last name (keyset). Archived rows are [ErrUnsupported]: several may have one name
// there. One statement, over the unique index (owner, name key).
func (r *Of[T, ID, Owner]) ListByName(ctx context.Context, db onerow.DB, owner Owner, prefix string, o PageOptions) (Page[T], error) {
	return pageOf[T](r.untyped.listByName(ctx, db, owner, prefix, o))
}

// sqlListByName reads by the unique index (owner, name key).
const sqlListByName = `SELECT /*+ INDEX({active} one_name) */ {fields}, version, 'active' FROM {active} IGNORE INDEX (PRIMARY)
  WHERE {ownerIs} AND {nameKey} >= ? AND {nameKey} < ? ORDER BY {nameKey} LIMIT ?`

func (r *untyped) listByName(ctx context.Context, db onerow.DB, owner any, prefix string, o PageOptions) (p page, err error) {
	switch {
	case !r.res.Named():
		return p, fmt.Errorf("%w: %q has no names to list by", ErrUnsupported, r.res.Name)
	case len(o.Where) > 0 || o.Sort != (Sort{}):
		return p, fmt.Errorf("%w: a list of %q by name has no Where and no Sort", ErrUnsupported, r.res.Name)
	case o.State != schema.Active && o.State != "":
		return p, fmt.Errorf("%w: only active rows of %q are in an index of names", ErrUnsupported, r.res.Name)
	}
	args, err := r.namedOwner(owner)
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
	p, err = r.page(ctx, db, r.text(sqlListByName), append(slices.Clone(args), from, append(first, 0xff), limit+1), limit, nil,
		func(row reflect.Value) (Cursor, error) { return r.nameCursor(l, row) })
	return p, r.wrap("list", nil, err)
}

// byName begins the cursors of lists in the order of names.
const byName = "name"

func (r *untyped) nameCursor(l *listing, row reflect.Value) (Cursor, error) {
	name, err := r.res.Label.Kind.Parse(r.label(row))
	if err != nil {
		return "", err
	}
	return r.seal(l, byName, string(name.Key))
}

// nameFrom is the key that a page begins with: the first of the prefix, or what comes right behind the
// cursor's. Keys are UTF-8, so none has the byte 0xff: with it behind the prefix comes after all that begin
// with it.
func (r *untyped) nameFrom(l *listing, c Cursor, first []byte) ([]byte, error) {
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

// Count is how many rows the list of these options has, from its beginning whatever page they name: at most
// this many, for a page that says "500+". An answer of most means that there may be more. It counts what
// [Of.List] lists and refuses what it refuses. One statement, which reads that many entries of the list's
// index, with both states twice as many, and no row; see List for MariaDB.
func (r *Of[T, ID, Owner]) Count(ctx context.Context, db onerow.DB, owner Owner, o PageOptions, most int) (int, error) {
	return r.untyped.count(ctx, db, owner, o, most)
}

func (r *untyped) count(ctx context.Context, db onerow.DB, owner any, o PageOptions, most int) (int, error) {
	if most <= 0 {
		return 0, fmt.Errorf("%w: a count of at most %d", ErrUnsupported, most)
	}
	l, err := r.listing(owner, o)
	if err != nil {
		return 0, r.wrapList("count", err)
	}
	var n int
	err = l.run(func(force bool) error {
		query, args := r.countSQL(l, most, force)
		return onerow.QueryRow(ctx, db, query, args, &n)
	})
	return min(n, most), r.wrapList("count", err)
}
